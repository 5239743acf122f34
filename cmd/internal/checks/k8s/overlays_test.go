package k8s

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOverlayWithoutImageFails renders the overlay to copy, unchanged.
func TestOverlayWithoutImageFails(t *testing.T) {
	_, err := Render(copyFiles(t), "/overlays/production")
	if err == nil || !strings.Contains(err.Error(),
		"no image is set, and none is published, so put one with the name eerf under images") {
		t.Errorf("error %v", err)
	}
}

// TestNoTemplateNameRemains looks for placeholders of the manifests that the settings of an overlay
// should replace.
func TestNoTemplateNameRemains(t *testing.T) {
	o := render(t, copyFiles(t), example)
	if o.configuration(t, "eerf-selector").Pipeline.Name == "default" {
		t.Fatal("the example has the name of the template")
	}
	for _, m := range o.manifests {
		if m.GetName() == "eerf-dashboard" || m.GetKind() == "PrometheusRule" {
			continue // belongs to all pipelines
		}
		for _, template := range []string{"eerf-default-", "default.", `"default"`, "kafka-cluster-ca-cert", "cluster: kafka",
			"kafka-kafka-bootstrap"} {
			if strings.Contains(string(m.Text), template) {
				t.Errorf("%v has %s", m, template)
			}
		}
	}
}

// TestPartitionCountReachesAllObjects sets the number of partitions in the overlay.
func TestPartitionCountReachesAllObjects(t *testing.T) {
	for _, autoscaler := range []string{"keda # or", "hpa # or"} {
		files := copyFiles(t)
		for _, change := range [][3]string{
			{"/production/kustomization.yaml", "- ../components/keda # or ../components/hpa", "- ../components/" + autoscaler},
			{"/examples/churn/kustomization.yaml", "literals: [", "literals: [topics.partitions=31, "},
		} {
			if err := files.Replace(change[0], change[1], change[2]); err != nil {
				t.Fatal(err)
			}
		}
		o := render(t, files, example)
		if n := o.configuration(t, "eerf-scoring").Topics.Partitions; n != 31 {
			t.Errorf("the programs count %d partitions", n)
		}
		found := scalers(t, o)
		for _, s := range found {
			if s.max != 31 && s.target != "eerf-server" {
				t.Errorf("%s is scaled to %d", s.target, s.max)
			}
		}
		if len(found) != 3 {
			t.Errorf("%d autoscalers", len(found))
		}
		for _, m := range o.ofKind("KafkaTopic") {
			n, _, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "partitions")
			alone := slices.Contains([]string{"explorations", "feature-sets", "models"},
				m.GetName()[strings.Index(m.GetName(), ".")+1:])
			replicas, _, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "replicas")
			if n != 31.0 && !alone || n != 1.0 && alone ||
				replicas != float64(o.configuration(t, "eerf-scoring").Topics.Replication) {
				t.Errorf("%v has %v partitions, %v replicas", m, n, replicas)
			}
		}
	}
}

// TestComponentsCanBeLeftOut renders without Strimzi, without KEDA, without monitoring.
func TestComponentsCanBeLeftOut(t *testing.T) {
	for _, component := range []string{"components/strimzi", "components/keda", "monitoring"} {
		o := changed(t, "without "+component, "/production/kustomization.yaml", "  - ../"+component, "  # - ../"+component)
		if component == "components/strimzi" && len(o.ofKind("KafkaTopic"))+len(o.ofKind("KafkaUser")) > 0 {
			t.Errorf("%s has topics and users", o.name)
		}
	}
}

var documentedPatches = regexp.MustCompile("(?s)```yaml\n( *)patches:\n(.*?)```")

// TestDocumentedPatchesRender adds the patches of the documentation to the example.
func TestDocumentedPatchesRender(t *testing.T) {
	effects := map[string]func(o *overlay) bool{
		"imagePullSecrets": func(o *overlay) bool { return len(all[*corev1.ServiceAccount](o)[0].ImagePullSecrets) == 1 },
		"/spec/suspend":    func(o *overlay) bool { return !*all[*batchv1.CronJob](o)[0].Spec.Suspend },
	}
	text := readFile(t, "k8s/README.md")
	for _, found := range documentedPatches.FindAllStringSubmatch(text, -1) {
		patches := "patches:\n" + strings.ReplaceAll("\n"+found[2], "\n"+found[1], "\n")
		o := changed(t, "patched", "/examples/churn/kustomization.yaml", "images:", strings.TrimRight(patches, " ")+"images:")
		for mark, effect := range effects {
			if strings.Contains(patches, mark) {
				if !effect(o) {
					t.Errorf("these patches have no effect\n%s", patches)
				}
				delete(effects, mark)
			}
		}
	}
	for mark := range effects {
		t.Errorf("no documented patch has %s", mark)
	}
}

// TestForeignEventsTopic renders for an existing events topic with its own name.
func TestForeignEventsTopic(t *testing.T) {
	files := copyFiles(t)
	rights := usersRights(t, render(t, files, example))
	for i := range rights {
		rights[i] = strings.ReplaceAll(rights[i], "customer-churn.events", "web.clicks")
	}
	slices.Sort(rights)
	for _, change := range [][3]string{
		{"/examples/churn/kustomization.yaml", "literals: [", "literals: [topics.events=web.clicks, "},
		{"/examples/churn/kustomization.yaml", "../../settings]", "../../settings, ../../settings/events]"},
	} {
		if err := files.Replace(change[0], change[1], change[2]); err != nil {
			t.Fatal(err)
		}
	}
	o := render(t, files, example)
	for _, w := range o.workloads() {
		if topic := o.configuration(t, w.name).Topics.Events; topic != "web.clicks" {
			t.Errorf("%v reads %s", w, topic)
		}
	}
	for _, m := range o.manifests {
		if text := string(m.Text); strings.Contains(text, "customer-churn.events") {
			t.Errorf("%v has the name of the template:\n%s", m, text)
		}
	}
	if n := len(o.ofKind("KafkaTopic")); n != 8 {
		t.Errorf("Strimzi makes %d topics", n)
	}
	if have := usersRights(t, o); !slices.Equal(have, rights) {
		t.Errorf("users have the rights\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(rights, "\n"))
	}
}

// usersRights lists what the users may do, sorted.
func usersRights(t *testing.T, o *overlay) (rights []string) {
	t.Helper()
	for _, user := range o.kafkaUsers(t) {
		for _, right := range user.rights() {
			rights = append(rights, user.Name+": "+right)
		}
	}
	slices.Sort(rights)
	return rights
}

package k8s

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	chartPath      = manifestsPath + "/chart"
	chartNamespace = "eerf"
)

// values are the values of a release.
type values = map[string]any

// renderChart renders the chart as `helm template` does.
func renderChart(v values) ([]*Manifest, error) {
	chart, err := loader.Load(chartPath)
	if err != nil {
		return nil, err
	}
	release := common.ReleaseOptions{Name: "any", Namespace: chartNamespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(chart, v, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	var rendered []*Manifest
	for _, text := range strings.Split(files["eerf/templates/objects.yaml"], "\n---\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		m := &Manifest{Text: []byte(text)}
		if err := yaml.UnmarshalStrict(m.Text, &m.Object); err != nil {
			return nil, err
		}
		rendered = append(rendered, m)
	}
	return rendered, nil
}

// chart renders the chart; problems end the test.
func chart(t *testing.T, name string, v values) *overlay {
	t.Helper()
	manifests, err := renderChart(v)
	if err != nil {
		t.Fatal(err)
	}
	return newOverlay(t, "chart "+name, manifests)
}

// image is a value that every release needs.
var image = values{"repository": "registry.example.com/eerf", "tag": "v9.8.7"}

// charts renders the chart as a release without more values than it needs, and with all of them.
func charts(t *testing.T) []*overlay {
	t.Helper()
	return []*overlay{
		chart(t, "with an image", values{"image": image}),
		chart(t, "with all values", values{
			"image":            values{"repository": "registry.example.com/eerf", "tag": "v9.8.7", "pullPolicy": "Always"},
			"imagePullSecrets": []any{values{"name": "registry"}},
			"pipeline":         values{"name": "churn"},
			"kafka":            values{"brokers": "a:9092,b:9093", "secret": "churn-kafka"},
			"topics":           values{"partitions": 6},
			"config":           values{"events": values{"label": []any{"churned"}}, "memory": values{"messages": 3}},
			"workloads": values{
				"selector": values{"affinity": values{}},
				"scoring":  values{"memory": "1280Mi", "cpu": 2, "nodeSelector": values{"pool": "fast"}},
				"trainer":  values{"tolerations": []any{values{"operator": "Exists"}}, "annotations": values{"a/b": "c"}},
				"retrain":  values{"suspend": true, "schedule": "0 1 * * *"},
			},
			"autoscaling": values{"enabled": true},
			"monitoring":  values{"enabled": true, "namespace": "watch"},
		}),
	}
}

// hashed are the names to which kustomize adds a hash of the content. The chart restarts pods with
// an annotation instead.
var hashed = regexp.MustCompile(`\b(eerf-config|eerf-settings)-[a-z0-9]{10}\b`)

// chartSources render the files of k8s/chart/objects.
var chartSources = map[string]struct {
	kustomization string
	keep          func(m *Manifest) bool
}{
	"base.yaml": {"resources: [../base]", func(m *Manifest) bool { return m.GetName() != "eerf-image" }},
	"hpa.yaml": {"resources: [../base]\ncomponents: [../components/hpa]", func(m *Manifest) bool {
		return m.GetKind() == "HorizontalPodAutoscaler"
	}},
	"monitoring.yaml": {"resources: [../base]\ncomponents: [../monitoring]", func(m *Manifest) bool {
		return strings.HasPrefix(m.GetAPIVersion(), "monitoring.coreos.com/") || m.GetName() == "eerf-dashboard"
	}},
}

// TestChartHasObjectsOfKustomize compares the objects in the chart with what kustomize renders.
// With -update it writes them.
func TestChartHasObjectsOfKustomize(t *testing.T) {
	for name, source := range chartSources {
		files := copyFiles(t)
		if err := files.WriteFile("/chart-source/kustomization.yaml", []byte(source.kustomization+"\n")); err != nil {
			t.Fatal(err)
		}
		manifests, err := Render(files, "/chart-source")
		if err != nil {
			t.Fatal(err)
		}
		var objects []any
		for _, m := range manifests {
			if source.keep(m) {
				objects = append(objects, m.Object)
			}
		}
		text, err := yaml.Marshal(objects)
		if err != nil {
			t.Fatal(err)
		}
		want := "# Code generated from k8s/base by TestChartHasObjectsOfKustomize; DO NOT EDIT. To write it, in cmd/internal/checks:\n" +
			"# go test ./k8s -run TestChartHasObjectsOfKustomize -update\n" + hashed.ReplaceAllString(string(text), "$1")
		file := path.Join("k8s/chart/objects", name)
		if *update {
			if err := os.WriteFile(path.Join(rootPath, file), []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have := readFile(t, file); have != want {
			t.Errorf("%s differs from what kustomize renders; run this test with -update", file)
		}
	}
}

// TestChartRendersBase compares a release with the same folder under kustomize, object by object.
func TestChartRendersBase(t *testing.T) {
	files := copyFiles(t)
	if err := files.WriteFile("/same/kustomization.yaml", []byte("namespace: eerf\nresources: [../base]\n"+
		"images: [{name: eerf, newName: registry.example.com/eerf, newTag: v9.8.7}]\n"+
		"configMapGenerator:\n- {name: eerf-settings, behavior: merge, literals: [topics.partitions=4]}\n")); err != nil {
		t.Fatal(err)
	}
	want := map[string]*Manifest{}
	for _, m := range render(t, files, "same").manifests {
		text := hashed.ReplaceAllString(string(m.Text), "$1")
		plain := &Manifest{Text: []byte(text)}
		if err := yaml.Unmarshal(plain.Text, &plain.Object); err != nil {
			t.Fatal(err)
		}
		want[plain.String()] = plain
	}
	delete(want, "ConfigMap/eerf-image")
	for _, m := range chart(t, "", values{"image": image}).manifests {
		other := want[m.String()]
		delete(want, m.String())
		if other == nil {
			t.Errorf("%v is in the chart only", m)
			continue
		}
		for _, field := range [][]string{
			{"metadata", "labels", "app.kubernetes.io/managed-by"},
			{"metadata", "labels", "app.kubernetes.io/instance"},
			{"metadata", "labels", "helm.sh/chart"},
			{"spec", "template", "metadata", "annotations", "checksum/config"},
			{"spec", "jobTemplate", "spec", "template", "metadata", "annotations", "checksum/config"},
		} {
			removeField(m.Object, field)
		}
		if m.String() == "ConfigMap/eerf-settings" { // the rest is for kustomize alone
			for _, object := range []*Manifest{m, other} {
				for _, name := range []string{
					"prometheus.address",
					"prometheus.namespace",
					"strimzi.cluster",
					"strimzi.namespace",
				} {
					removeField(object.Object, []string{"data", name})
				}
			}
		}
		if m.String() == "ConfigMap/eerf-config" { // without its comments
			other.Object["data"] = map[string]any{"eerf.yaml": sameYAML(t, other)}
			m.Object["data"] = map[string]any{"eerf.yaml": sameYAML(t, m)}
		}
		if !equality.Semantic.DeepEqual(m.Object, other.Object) {
			have, _ := yaml.Marshal(m.Object)
			need, _ := yaml.Marshal(other.Object)
			t.Errorf("%v differs.\nchart:\n%s\nkustomize:\n%s", m, have, need)
		}
	}
	for name := range want {
		t.Errorf("%s is not in the chart", name)
	}
}

// removeField removes a field, and the maps that held nothing else.
func removeField(object map[string]any, field []string) {
	unstructured.RemoveNestedField(object, field...)
	for len(field) > 1 {
		field = field[:len(field)-1]
		if inner, found, _ := unstructured.NestedMap(object, field...); !found || len(inner) > 0 {
			return
		}
		unstructured.RemoveNestedField(object, field...)
	}
}

// sameYAML is the file in a ConfigMap, parsed.
func sameYAML(t *testing.T, m *Manifest) any {
	t.Helper()
	text, _, err := unstructured.NestedString(m.Object, "data", "eerf.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestChartAppliesValues looks up the effects of values that other tests do not see.
func TestChartAppliesValues(t *testing.T) {
	o := charts(t)[1]
	if c := o.configuration(t, "eerf-trainer"); c.Pipeline.Name != "churn" || c.Topics.Partitions != 6 ||
		!slices.Equal(c.Kafka.Brokers, []string{"a:9092", "b:9093"}) || !slices.Equal(c.Events.Label, []string{"churned"}) {
		t.Errorf("the trainer's configuration is %+v", c)
	}
	for _, w := range o.workloads() {
		spec := &w.pod.Spec
		if spec.ImagePullSecrets[0].Name != "registry" || spec.Containers[0].ImagePullPolicy != "Always" {
			t.Errorf("%v: %v, %v", w, spec.ImagePullSecrets, spec.Containers[0].ImagePullPolicy)
		}
		for _, volume := range spec.Volumes {
			if volume.Name == "kafka" && volume.Projected.Sources[0].Secret.Name != "churn-kafka" {
				t.Errorf("%v mounts the secret %s", w, volume.Projected.Sources[0].Secret.Name)
			}
		}
		c := spec.Containers[0]
		switch w.name {
		case "eerf-scoring":
			if w.replicas != nil || c.Resources.Limits.Memory().String() != "1280Mi" || spec.NodeSelector["pool"] != "fast" {
				t.Errorf("%v: replicas %v, %v, %v", w, w.replicas, c.Resources.Limits, spec.NodeSelector)
			}
		case "eerf-selector":
			if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
				t.Errorf("%v: affinity %v", w, spec.Affinity)
			}
		case "eerf-trainer":
			if len(spec.Tolerations) != 1 || w.pod.Annotations["a/b"] != "c" {
				t.Errorf("%v: tolerations %v, annotations %v", w, spec.Tolerations, w.pod.Annotations)
			}
		}
	}
	without := chart(t, "without server", values{"image": image, "workloads": values{"server": values{"enabled": false}}})
	for _, m := range without.manifests {
		if m.GetName() == "eerf-server" {
			t.Errorf("%v is there, and server is not enabled", m)
		}
	}
	sum := func(v values) string { return chart(t, "", v).workloads()[0].pod.Annotations["checksum/config"] }
	changed := values{"image": image, "config": values{"train": values{"min_rows": 7}}}
	if sum(values{"image": image}) == sum(changed) {
		t.Error("a changed configuration does not restart pods")
	}
}

// TestChartRefusesWrongValues uses values that would render, and install something else.
func TestChartRefusesWrongValues(t *testing.T) {
	for want, v := range map[string]values{
		"image.repository is required: no image is published": {},
		"'partitions'":            {"image": image, "topics": values{"partitions": 0}},
		"topic":                   {"image": image, "topic": values{}},
		"replica":                 {"image": image, "workloads": values{"trainer": values{"replica": 2}}},
		"kafka/brokers":           {"image": image, "kafka": values{"brokers": []any{"a:9092"}}},
		"workloads/retrain":       {"image": image, "workloads": values{"retrain": values{"replicas": 2}}},
		"workloads/server/memory": {"image": image, "workloads": values{"server": values{"memory": 3}}},
	} {
		if _, err := renderChart(v); err == nil || !strings.Contains(err.Error(), strings.Trim(want, "'")) {
			t.Errorf("%v: error %v, want it to name %s", v, err, want)
		}
	}
}

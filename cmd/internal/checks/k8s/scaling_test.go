package k8s

import (
	"regexp"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scaler is an autoscaler of either kind.
type scaler struct {
	target   string
	min, max int
	triggers []map[string]string // of KEDA
}

func scalers(t *testing.T, o *overlay) []scaler {
	t.Helper()
	var found []scaler
	for _, h := range all[*autoscalingv2.HorizontalPodAutoscaler](o) {
		if h.Spec.ScaleTargetRef.Kind != "Deployment" || h.Spec.ScaleTargetRef.APIVersion != "apps/v1" {
			t.Errorf("%s scales %v", h.Name, h.Spec.ScaleTargetRef)
		}
		found = append(found,
			scaler{target: h.Spec.ScaleTargetRef.Name, min: int(*h.Spec.MinReplicas), max: int(h.Spec.MaxReplicas)})
	}
	for _, m := range o.ofKind("ScaledObject") {
		number := func(name string) int {
			n, ok, err := unstructured.NestedFieldNoCopy(m.Object, "spec", name)
			if f, isNumber := n.(float64); ok && err == nil && isNumber {
				return int(f)
			}
			t.Errorf("%v has no %s", m, name)
			return 0
		}
		s := scaler{min: number("minReplicaCount"), max: number("maxReplicaCount")}
		s.target, _, _ = unstructured.NestedString(m.Object, "spec", "scaleTargetRef", "name")
		triggers, _, _ := unstructured.NestedSlice(m.Object, "spec", "triggers")
		for _, trigger := range triggers {
			metadata, _, _ := unstructured.NestedStringMap(trigger.(map[string]any), "metadata")
			s.triggers = append(s.triggers, metadata)
		}
		found = append(found, s)
	}
	return found
}

// TestAutoscalersStayWithinThePartitions checks that autoscalers stay within the partitions of
// events, because more pods would be idle, and within the partitions for which the memory of a pod
// was computed.
func TestAutoscalersStayWithinThePartitions(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		scaled := map[string]bool{}
		for _, s := range scalers(t, o) {
			if scaled[s.target] {
				t.Errorf("%s has two autoscalers", s.target)
			}
			scaled[s.target] = true
			if s.target == "eerf-server" { // owns no partitions
				continue
			}
			inForce := o.configuration(t, s.target)
			if s.max > inForce.Topics.Partitions || s.min < 1 || s.min > s.max {
				t.Errorf("%s is scaled from %d to %d, events has %d partitions", s.target, s.min, s.max, inForce.Topics.Partitions)
			}
			if counted := inForce.Memory.Partitions; counted > 0 && counted*s.min < inForce.Topics.Partitions {
				t.Errorf("%s: %d pods would each own more than the %d partitions that their memory is computed for", s.target,
					s.min, counted)
			}
		}
		for _, w := range o.workloads() {
			if scaled[w.name] != (w.replicas == nil) && w.ours() && w.service {
				t.Errorf("%v: either the autoscaler or the manifest must set the number of replicas", w)
			}
		}
		if strings.HasPrefix(o.name, example) &&
			(!scaled["eerf-featurizer"] || !scaled["eerf-scoring"] || !scaled["eerf-server"]) {
			t.Errorf("autoscaled: %v", scaled)
		}
	})
}

var metricName = regexp.MustCompile(`\beerf_[a-z_]+`)

// TestTriggersNameExistingMetrics compares the triggers with the configuration and with the
// programs' metrics.
func TestTriggersNameExistingMetrics(t *testing.T) {
	served := readFile(t, "telemetry/testdata/metrics.txt")
	o := render(t, copyFiles(t), example)
	space := o.ofKind("Deployment")[0].GetNamespace()
	for _, s := range scalers(t, o) {
		inForce := o.configuration(t, s.target)
		for _, trigger := range s.triggers {
			if query := trigger["query"]; query != "" {
				metrics := metricName.FindAllString(query, -1)
				for _, name := range metrics {
					kind := " gauge "
					if strings.Contains(query, "rate("+name) {
						kind = " counter "
					}
					if !strings.Contains("\n"+served, "\n"+name+kind) {
						t.Errorf("%s: no program serves %s", s.target, name)
					}
				}
				if len(metrics) == 0 || strings.Count(query,
					`{namespace="`+space+`",pipeline="`+inForce.Pipeline.Name+`"}`) != len(metrics) {
					t.Errorf("%s: the query does not select pipeline %s in %s: %s", s.target, inForce.Pipeline.Name, space, query)
				}
				if trigger["ignoreNullValues"] != "false" {
					t.Errorf("%s: missing metrics would count as no work", s.target)
				}
				continue
			}
			want := map[string]string{"consumerGroup": "eerf-" + inForce.Pipeline.Name +
				"-featurize", "topic": inForce.Topics.Events,
				"bootstrapServers": strings.Join(inForce.Kafka.Brokers, ","), "scaleToZeroOnInvalidOffset": "true"}
			for key, value := range want {
				if trigger[key] != value {
					t.Errorf("%s: %s is %q, the configuration says %q", s.target, key, trigger[key], value)
				}
			}
		}
	}
}

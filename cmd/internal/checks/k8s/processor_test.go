package k8s

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Pods that compute explorations run on nodes of one kind: on others the numeric kernel would differ, and they would
// contribute nothing.
func TestPodsThatExploreAreOnProcessorsOfOneKind(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		kinds := map[string]bool{}
		for _, d := range all[*appsv1.Deployment](o) {
			args := strings.Join(d.Spec.Template.Spec.Containers[0].Args, " ")
			if !slices.ContainsFunc([]string{"calibrate", "subsample", "select"}, func(stage string) bool { return strings.Contains(args, stage) }) {
				continue
			}
			kinds[strings.Join(architectures(d.Spec.Template.Spec.Affinity), ",")] = true
		}
		if o.name == "overlays/dev" {
			if len(kinds) != 1 || !kinds[""] {
				t.Errorf("a laptop has one kind of processor, whichever it is: %v", kinds)
			}
			return
		}
		if len(kinds) != 1 || !kinds["amd64"] {
			t.Errorf("kinds of processors: %v", kinds)
		}
	})
}

// architectures are the allowed values of kubernetes.io/arch for a pod.
func architectures(affinity *corev1.Affinity) (values []string) {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == corev1.LabelArchStable && e.Operator == corev1.NodeSelectorOpIn {
				values = append(values, e.Values...)
			}
		}
	}
	return values
}

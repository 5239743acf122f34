package k8s

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
)

// known holds the groups of the Kubernetes API that the manifests use.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme,
		appsv1.AddToScheme,
		batchv1.AddToScheme,
		policyv1.AddToScheme,
		networkingv1.AddToScheme,
		autoscalingv2.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return s
}()

// strict reads text like the API server: unknown and repeated fields are errors.
var strict = serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()

func decode(m *Manifest) (runtime.Object, error) {
	object, _, err := strict.Decode(m.Text, nil, nil)
	return object, err
}

// TestNamesAndNamespaces checks that names are valid for the API server, and that objects are in
// the right namespace.
func TestNamesAndNamespaces(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		space := chartNamespace
		if !strings.HasPrefix(o.name, "chart ") { // helm makes it
			spaces := o.ofKind("Namespace")
			if len(spaces) != 1 {
				t.Fatalf("%d namespaces", len(spaces))
			}
			space = spaces[0].GetName()
		}
		seen := map[string]bool{}
		for _, m := range o.manifests {
			want := space
			switch {
			case m.GetKind() == "Namespace": // the only kind in use that is not in a namespace
				want = ""
			case m.GroupVersionKind().Group == strimziGroup: // where its operators look
				want = "kafka"
			}
			if m.GetNamespace() != want {
				t.Errorf("%v is in namespace %q", m, m.GetNamespace())
			}
			if faults := validation.IsDNS1123Subdomain(m.GetName()); len(faults) > 0 {
				t.Errorf("%v: %v", m, faults)
			}
			if id := m.GroupVersionKind().String() + m.GetName(); seen[id] {
				t.Errorf("%v is there twice", m)
			} else {
				seen[id] = true
			}
			for key, value := range m.GetLabels() {
				if faults := slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)); len(faults) > 0 {
					t.Errorf("%v: label %s: %v", m, key, faults)
				}
			}
		}
	})
}

package k8s

import (
	"bytes"
	"os/exec"
	"path/filepath"
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
	"sigs.k8s.io/yaml"
)

// known has the groups of the Kubernetes API that the manifests use.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme, autoscalingv2.AddToScheme,
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

func TestEveryFileIsUsed(t *testing.T) {
	used := []string{"/README.md", "/monitoring/alerts.yaml", "/monitoring/inhibit.yaml"} // the latter two for users without an operator
	shared := copyFiles(t)
	for _, change := range [][3]string{
		{"/overlays/production/kustomization.yaml", "name: eerf}", "name: eerf, newTag: v0.1.0}"},
		{"/production/kustomization.yaml", "- ../components/keda", "- ../components/hpa"},
		{"/production/kustomization.yaml", "- ../monitoring", "- ../components/traces"},
	} {
		for _, folder := range []string{"overlays/dev", example} {
			render(t, shared, folder)
		}
		if err := shared.Replace(change[0], change[1], change[2]); err != nil {
			t.Fatal(err)
		}
	}
	render(t, shared, "overlays/production")
	for _, change := range [][2]string{{"../../settings]", "../../settings, ../../settings/events]"}, {"literals: [", "literals: [topics.events=clicks, "}} {
		if err := shared.Replace("/examples/churn/kustomization.yaml", change[0], change[1]); err != nil {
			t.Fatal(err)
		}
	}
	render(t, shared, example)
	used = append(used, shared.Read()...)
	for _, name := range files(t) {
		if !slices.Contains(used, name) && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s is used by no overlay", name)
		}
	}
}

// TestKubectlRendersTheSame needs kubectl.
func TestKubectlRendersTheSame(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("no kubectl")
	}
	for _, folder := range []string{"overlays/dev", example} {
		out, err := exec.CommandContext(t.Context(), kubectl, "kustomize", filepath.Join(manifestsPath, folder)).Output()
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		var ours [][]byte
		for _, m := range render(t, copyFiles(t), folder).manifests {
			ours = append(ours, canonical(t, m.Text))
		}
		theirs := bytes.Split(out, []byte("\n---\n"))
		for i := range theirs {
			theirs[i] = canonical(t, theirs[i])
		}
		sortTexts(ours)
		sortTexts(theirs)
		if len(ours) != len(theirs) {
			t.Fatalf("%s: kubectl renders %d objects, this module %d", folder, len(theirs), len(ours))
		}
		for i := range ours {
			if !bytes.Equal(ours[i], theirs[i]) {
				t.Errorf("%s: kubectl renders\n%s\nthis module\n%s", folder, theirs[i], ours[i])
			}
		}
	}
}

func sortTexts(texts [][]byte) { slices.SortFunc(texts, bytes.Compare) }

// canonical writes YAML with sorted keys.
func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	sorted, err := yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return sorted
}

// TestEveryObjectHasAType decodes every object by the type or definition of its kind.
func TestEveryObjectHasAType(t *testing.T) {
	definitions := loadDefinitions(t)
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, m := range o.manifests {
			kind := m.GroupVersionKind()
			switch {
			case known.Recognizes(kind): // already decoded by rendering
			case definitions[kind] != nil:
				for _, fault := range definitions[kind].faults(m) {
					t.Errorf("%v: %s", m, fault)
				}
			default:
				t.Errorf("%v: nobody knows the kind %v", m, kind)
			}
		}
	})
}

// TestNamesAndNamespaces checks that names are valid for the API server, and that objects are in the right namespace.
func TestNamesAndNamespaces(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		spaces := o.ofKind("Namespace")
		if len(spaces) != 1 {
			t.Fatalf("%d namespaces", len(spaces))
		}
		space := spaces[0].GetName()
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

package k8s

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	manifestsPath = "../../../../k8s"
	rootPath      = "../../../.."
)

// overlay is a rendered folder.
type overlay struct {
	name      string
	manifests []*Manifest
	objects   []runtime.Object // manifests with a type in the API of Kubernetes itself
}

// example is an overlay over k8s/production. The one in overlays/production has no image; it is a
// template to copy.
const example = "examples/churn"

// overlays renders what users apply: the overlay for a laptop, the example, the example with the
// plain autoscaler, and the chart.
func overlays(t *testing.T) []*overlay {
	t.Helper()
	return append(charts(t),
		render(t, copyFiles(t), "overlays/dev"), render(t, copyFiles(t), example),
		changed(t, "with hpa", "/production/kustomization.yaml", "- ../components/keda", "- ../components/hpa"))
}

// changed renders the example with a text replaced in a file.
func changed(t *testing.T, name, file, old, replacement string) *overlay {
	t.Helper()
	files := copyFiles(t)
	if err := files.Replace(file, old, replacement); err != nil {
		t.Fatal(err)
	}
	o := render(t, files, example)
	o.name += " " + name
	return o
}

// eachOverlay runs a test for every overlay.
func eachOverlay(t *testing.T, check func(t *testing.T, o *overlay)) {
	t.Helper()
	for _, o := range overlays(t) {
		t.Run(strings.ReplaceAll(o.name, "/", " "), func(t *testing.T) { check(t, o) })
	}
}

func copyFiles(t *testing.T) *Files {
	t.Helper()
	files, err := CopyFiles(manifestsPath)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func render(t *testing.T, files *Files, folder string) *overlay {
	t.Helper()
	manifests, err := Render(files, "/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	return newOverlay(t, folder, manifests)
}

func newOverlay(t *testing.T, name string, manifests []*Manifest) *overlay {
	t.Helper()
	o := &overlay{name: name, manifests: manifests}
	for _, m := range manifests {
		if known.Recognizes(m.GroupVersionKind()) {
			object, err := decode(m)
			if err != nil {
				t.Fatalf("%v: %v", m, err)
			}
			o.objects = append(o.objects, object)
		}
	}
	return o
}

// all returns the objects of one type.
func all[T runtime.Object](o *overlay) []T {
	var found []T
	for _, object := range o.objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

// ofKind returns the manifests of one kind.
func (o *overlay) ofKind(kind string) []*Manifest {
	var found []*Manifest
	for _, m := range o.manifests {
		if m.GetKind() == kind {
			found = append(found, m)
		}
	}
	return found
}

// workload is an object that creates pods.
type workload struct {
	kind     string
	name     string
	service  bool // runs until it is stopped
	selector *metav1.LabelSelector
	replicas *int32
	pod      corev1.PodTemplateSpec
}

func (w *workload) String() string { return w.kind + "/" + w.name }

// ours reports whether the pods run this project's programs.
func (w *workload) ours() bool { return w.pod.Labels["app.kubernetes.io/name"] == "eerf" }

func (o *overlay) workloads() []*workload {
	var found []*workload
	for _, d := range all[*appsv1.Deployment](o) {
		found = append(found, &workload{"Deployment", d.Name, true, d.Spec.Selector, d.Spec.Replicas, d.Spec.Template})
	}
	for _, s := range all[*appsv1.StatefulSet](o) {
		found = append(found, &workload{"StatefulSet", s.Name, true, s.Spec.Selector, s.Spec.Replicas, s.Spec.Template})
	}
	for _, c := range all[*batchv1.CronJob](o) {
		found = append(found, &workload{"CronJob", c.Name, false, nil, nil, c.Spec.JobTemplate.Spec.Template})
	}
	return found
}

// containers returns all containers of a pod, including init containers.
func (w *workload) containers() []corev1.Container {
	return slices.Concat(w.pod.Spec.InitContainers, w.pod.Spec.Containers)
}

// port returns the number of a named port of the pod, 0 if there is none.
func (w *workload) port(name string) int32 {
	for _, c := range w.pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == name {
				return p.ContainerPort
			}
		}
	}
	return 0
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rootPath, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

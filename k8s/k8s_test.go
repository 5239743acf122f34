// Package k8s_test holds the manifests to the commands and the configuration that they name.
package k8s_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages"
)

const (
	base       = "base"
	configPath = "/etc/eerf/eerf.yaml" // in a container
)

// kustomization is what the test reads of a kustomization.
type kustomization struct {
	Resources          []string `yaml:"resources"`
	ConfigMapGenerator []struct {
		Name  string   `yaml:"name"`
		Files []string `yaml:"files"`
	} `yaml:"configMapGenerator"`
	Images []struct {
		Name string `yaml:"name"`
	} `yaml:"images"`
}

// manifest is what the test reads of a Deployment or a CronJob.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"selector"`
		Template    podTemplate `yaml:"template"`
		JobTemplate struct {
			Spec struct {
				Template podTemplate `yaml:"template"`
			} `yaml:"spec"`
		} `yaml:"jobTemplate"`
	} `yaml:"spec"`
}

type podTemplate struct {
	Metadata struct {
		Labels map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Spec struct {
		Grace           int   `yaml:"terminationGracePeriodSeconds"`
		ServiceLinks    *bool `yaml:"enableServiceLinks"`
		TokenMounted    *bool `yaml:"automountServiceAccountToken"`
		SecurityContext struct {
			RunAsNonRoot bool `yaml:"runAsNonRoot"`
			Seccomp      struct {
				Type string `yaml:"type"`
			} `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		Containers []container `yaml:"containers"`
		Volumes    []struct {
			Name      string `yaml:"name"`
			ConfigMap struct {
				Name string `yaml:"name"`
			} `yaml:"configMap"`
		} `yaml:"volumes"`
	} `yaml:"spec"`
}

type container struct {
	Name            string   `yaml:"name"`
	Image           string   `yaml:"image"`
	Command         []string `yaml:"command"`
	Args            []string `yaml:"args"`
	SecurityContext struct {
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRoot bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities struct {
			Drop []string `yaml:"drop"`
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
	Mounts []struct {
		Name string `yaml:"name"`
		Path string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	LivenessProbe  any `yaml:"livenessProbe"`
	ReadinessProbe any `yaml:"readinessProbe"`
	StartupProbe   any `yaml:"startupProbe"`
}

// pod returns the template of the pods that a manifest makes.
func (m *manifest) pod() podTemplate {
	if m.Kind == "CronJob" {
		return m.Spec.JobTemplate.Spec.Template
	}
	return m.Spec.Template
}

// flag returns the value of a flag among the arguments, empty if it is not there.
func (c *container) flag(name string) string {
	if at := slices.Index(c.Args, name); at >= 0 && at+1 < len(c.Args) {
		return c.Args[at+1]
	}
	return ""
}

func TestEveryFileIsPartOfTheBase(t *testing.T) {
	k := readKustomization(t)
	used := append(slices.Clone(k.Resources), "kustomization.yaml")
	for _, generator := range k.ConfigMapGenerator {
		used = append(used, generator.Files...)
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(used, entry.Name()) {
			t.Errorf("%s is in the folder but not in the kustomization", entry.Name())
		}
	}
}

func TestConfigurationHasNoFaults(t *testing.T) {
	loaded := loadConfig(t)
	if len(loaded.Stages.Events.Label) == 0 {
		t.Error("events.label is not set: nothing could be explored")
	}
	if loaded.Stages.Exploration.Deadline == 0 {
		t.Error("exploration.deadline is not set: an idle partition would hold an exploration up for ever")
	}
}

func TestEveryStageRunsOnce(t *testing.T) {
	var running []string
	for _, m := range manifests(t) {
		for _, c := range m.pod().Spec.Containers {
			if filepath.Base(c.Command[0]) == "trainer" {
				running = append(running, stages.StageTrain)
				continue
			}
			names := strings.Split(c.flag("--stages"), ",")
			if err := stages.CheckStages(names); err != nil {
				t.Errorf("%s: %v", m.Metadata.Name, err)
			}
			running = append(running, names...)
		}
	}
	want := stages.Stages()
	slices.Sort(want)
	slices.Sort(running)
	if !slices.Equal(running, want) {
		t.Errorf("the manifests run the stages %v, there are %v", running, want)
	}
}

func TestPodsAreRestrictedAndConfigured(t *testing.T) {
	loaded, k := loadConfig(t), readKustomization(t)
	for _, m := range manifests(t) {
		pod := m.pod()
		check := func(ok bool, what string) {
			if !ok {
				t.Errorf("%s %s: %s", m.Kind, m.Metadata.Name, what)
			}
		}
		check(pod.Spec.SecurityContext.RunAsNonRoot, "may run as root")
		check(pod.Spec.SecurityContext.Seccomp.Type == "RuntimeDefault", "no seccomp profile")
		check(refused(pod.Spec.TokenMounted), "has a service account token, which it does not need")
		check(refused(pod.Spec.ServiceLinks), "has variables of services, which may look like configuration")
		if m.Kind == "Deployment" {
			needed := loaded.Shutdown.DrainTimeout + loaded.Kafka.LeaveTimeout
			check(float64(pod.Spec.Grace) > needed.Seconds(), "is killed before a shutdown may have ended, "+needed.String())
			for key, value := range m.Spec.Selector.MatchLabels {
				check(pod.Metadata.Labels[key] == value, "selector and label "+key+" differ")
			}
		}
		check(len(pod.Spec.Volumes) == 1 && pod.Spec.Volumes[0].ConfigMap.Name == k.ConfigMapGenerator[0].Name,
			"the volume is not the generated configuration")
		for _, c := range pod.Spec.Containers {
			check(c.Image == k.Images[0].Name, "the image is not the placeholder that the kustomization sets")
			check(refused(c.SecurityContext.Escalation) && c.SecurityContext.ReadOnlyRoot &&
				slices.Equal(c.SecurityContext.Capabilities.Drop, []string{"ALL"}), "container not restricted")
			check(c.LivenessProbe == nil && c.ReadinessProbe == nil && c.StartupProbe == nil,
				"has a probe, but no command answers one")
			check(c.flag("--config") == configPath, "does not read "+configPath)
			check(len(c.Mounts) == 1 && c.Mounts[0].Path == filepath.Dir(configPath) &&
				c.Mounts[0].Name == pod.Spec.Volumes[0].Name, "the configuration is not mounted where it is read")
		}
	}
}

// refused reports whether a setting is there and false: without it Kubernetes says true.
func refused(setting *bool) bool { return setting != nil && !*setting }

// TestCommandsTakeTheArguments runs each command with its arguments where the configuration file does not exist: it must
// get as far as reading that file. Unknown commands, flags and stages end before, with exit code 2.
func TestCommandsTakeTheArguments(t *testing.T) {
	if _, err := os.Stat(configPath); err == nil {
		t.Skipf("%s exists on this machine: the command would run", configPath)
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin, "../cmd/featurizer", "../cmd/trainer")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, m := range manifests(t) {
		for _, c := range m.pod().Spec.Containers {
			run := exec.CommandContext(t.Context(), filepath.Join(bin, filepath.Base(c.Command[0])), c.Args...)
			out, err := run.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !bytes.Contains(out, []byte("read configuration")) {
				t.Errorf("%s: %s %s: %v\n%s", m.Metadata.Name, c.Command[0], strings.Join(c.Args, " "), err, out)
			}
		}
	}
}

func readKustomization(t *testing.T) kustomization {
	t.Helper()
	var k kustomization
	decodeFile(t, "kustomization.yaml", func(d *yaml.Decoder) error { return d.Decode(&k) })
	if len(k.Resources) == 0 || len(k.ConfigMapGenerator) != 1 || len(k.ConfigMapGenerator[0].Files) != 1 || len(k.Images) != 1 {
		t.Fatalf("kustomization without resources, configuration or image: %+v", k)
	}
	return k
}

func loadConfig(t *testing.T) *config.Config {
	t.Helper()
	loaded, err := config.Load(filepath.Join(base, readKustomization(t).ConfigMapGenerator[0].Files[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// manifests returns the documents of all resources.
func manifests(t *testing.T) []manifest {
	t.Helper()
	var all []manifest
	for _, name := range readKustomization(t).Resources {
		decodeFile(t, name, func(d *yaml.Decoder) error {
			var m manifest
			if err := d.Decode(&m); err != nil {
				return err
			}
			if m.Kind != "Deployment" && m.Kind != "CronJob" {
				t.Fatalf("%s: the test knows no kind %q", name, m.Kind)
			}
			if pod := m.pod(); len(pod.Spec.Containers) == 0 || len(pod.Spec.Containers[0].Command) == 0 {
				t.Fatalf("%s: %s %s has no container with a command", name, m.Kind, m.Metadata.Name)
			}
			all = append(all, m)
			return nil
		})
	}
	return all
}

// decodeFile calls decode for every document of a file.
func decodeFile(t *testing.T, name string, decode func(*yaml.Decoder) error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(base, name))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		err := decode(decoder)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

package k8s

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const configPath = "/etc/eerf/eerf.yaml" // in a container

// programs is the folder of the two programs, built from the surrounding module on first use.
var programs = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "eerf-programs-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", folder, "./cmd/featurizer", "./cmd/trainer")
	build.Dir = rootPath
	if out, err := build.CombinedOutput(); err != nil {
		return folder, fmt.Errorf("build programs: %w\n%s", err, out)
	}
	return folder, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if folder, _ := programs(); folder != "" {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

// run runs a program of a container with its environment.
func (o *overlay) run(
	t *testing.T,
	c *corev1.Container,
	program string,
	args ...string,
) (stdout, stderr string, code int) {
	t.Helper()
	folder, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(folder, program), args...)
	command.Env = o.environment(t, c)
	var out, faults bytes.Buffer
	command.Stdout, command.Stderr = &out, &faults
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), faults.String(), command.ProcessState.ExitCode()
}

// environment is the environment of a container, with made-up secrets.
func (o *overlay) environment(t *testing.T, c *corev1.Container) []string {
	t.Helper()
	var all []string
	for _, e := range c.Env {
		value := e.Value
		switch from := e.ValueFrom; {
		case from == nil:
		case from.SecretKeyRef != nil:
			value = strings.Repeat("secret", 6)
		case from.ConfigMapKeyRef != nil:
			value = o.setting(t, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
		case from.ResourceFieldRef != nil && from.ResourceFieldRef.Resource == "limits.memory" &&
			from.ResourceFieldRef.ContainerName == c.Name:
			value = strconv.FormatInt(c.Resources.Limits.Memory().Value(), 10)
		default:
			t.Fatalf("variable %s: this test does not know the source of its value", e.Name)
		}
		all = append(all, e.Name+"="+value)
	}
	return all
}

// setting is a value of a ConfigMap.
func (o *overlay) setting(t *testing.T, name, key string) string {
	t.Helper()
	for _, m := range all[*corev1.ConfigMap](o) {
		if value, ok := m.Data[key]; ok && m.Name == name {
			return value
		}
	}
	t.Fatalf("ConfigMap entry not found: %s in %s", key, name)
	return ""
}

// configFile writes the file mounted at configPath to a file.
func (o *overlay) configFile(t *testing.T, w *workload, c *corev1.Container) string {
	t.Helper()
	for _, mount := range c.VolumeMounts {
		for _, volume := range w.pod.Spec.Volumes {
			if mount.Name != volume.Name || mount.MountPath != path.Dir(configPath) || volume.ConfigMap == nil {
				continue
			}
			for _, m := range all[*corev1.ConfigMap](o) {
				if text, ok := m.Data[path.Base(configPath)]; ok && m.Name == volume.ConfigMap.Name {
					name := filepath.Join(t.TempDir(), path.Base(configPath))
					if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					return name
				}
			}
		}
	}
	t.Fatalf("%v: container %s has no configuration at %s", w, c.Name, configPath)
	return ""
}

// configuration holds the settings that the tests check.
type configuration struct {
	Kafka struct {
		Brokers      []string `json:"brokers"`
		LeaveTimeout string   `json:"leave_timeout"`
		TLS          struct {
			CAFile string `json:"ca_file"`
		} `json:"tls"`
		SASL struct {
			PasswordFile string `json:"password_file"`
		} `json:"sasl"`
	} `json:"kafka"`
	Pipeline struct {
		Name string `json:"name"`
	} `json:"pipeline"`
	Topics struct {
		Events       string `json:"events"`
		Explorations string `json:"explorations"`
		Scores       string `json:"scores"`
		Samples      string `json:"samples"`
		FeatureSets  string `json:"feature_sets"`
		Features     string `json:"features"`
		Models       string `json:"models"`
		DeadLetters  string `json:"dead_letters"`
		Partitions   int    `json:"partitions"`
		Replication  int    `json:"replication"`
	} `json:"topics"`
	Events struct {
		Label []string `json:"label"`
	} `json:"events"`
	Admin struct {
		Listen string `json:"listen"`
	} `json:"admin"`
	Memory struct {
		Partitions int `json:"partitions"`
	} `json:"memory"`
	Shutdown struct {
		DrainTimeout string `json:"drain_timeout"`
	} `json:"shutdown"`
}

// configuration returns the effective settings of a workload's container, as the program itself
// prints them.
func (o *overlay) configuration(t *testing.T, name string) *configuration {
	t.Helper()
	for _, w := range o.workloads() {
		if w.name != name {
			continue
		}
		c := &w.pod.Spec.Containers[0]
		out, faults, code := o.run(t, c, "featurizer", "config", "print", "--json", "--config", o.configFile(t, w, c))
		if code != 0 {
			t.Fatalf("%v: %s", w, faults)
		}
		var printed configuration
		if err := json.Unmarshal([]byte(out), &printed); err != nil {
			t.Fatal(err)
		}
		return &printed
	}
	t.Fatalf("%s not found", name)
	return nil
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serves reports whether a container answers requests about rows, and runs no stage.
func serves(c *corev1.Container) bool { return c.Args[0] == "serve" }

// stagesOf returns the stages that a container runs.
func stagesOf(t *testing.T, c *corev1.Container) []string {
	t.Helper()
	if path.Base(c.Command[0]) == "trainer" {
		return []string{"train"}
	}
	if serves(c) {
		return nil
	}
	at := slices.Index(c.Args, "--stages")
	if at < 0 || at+1 == len(c.Args) {
		t.Fatalf("%v runs all stages, or names none", c.Args)
	}
	return strings.Split(c.Args[at+1], ",")
}

// TestConfigurationHasNoFaults asks the program itself, with each container's environment, stages
// and memory. An unknown key or variable is a fault, and so is a worst-case memory need beyond the
// limit.
func TestConfigurationHasNoFaults(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			if !w.ours() {
				continue
			}
			c := &w.pod.Spec.Containers[0]
			counted := []string{"--stages", strings.Join(stagesOf(t, c), ",")}
			if serves(c) {
				counted = []string{"--serve"}
			}
			_, faults, code := o.run(t, c, "featurizer",
				append([]string{"config", "check", "--config", o.configFile(t, w, c)}, counted...)...)
			if code != 0 {
				t.Errorf("%v: %s", w, faults)
			}
			inForce := o.configuration(t, w.name)
			if len(inForce.Events.Label) == 0 {
				t.Errorf("%v: events.label is not set: nothing could be explored", w)
			}
		}
	})
}

// TestEveryStageRuns checks that each stage is run by exactly one service.
func TestEveryStageRuns(t *testing.T) {
	help, _, _ := new(overlay).run(t, &corev1.Container{}, "featurizer", "run", "--help")
	found := regexp.MustCompile(`Stages: ([a-z, ]+)\.`).FindStringSubmatch(help)
	if found == nil {
		t.Fatalf("the help names no stages:\n%s", help)
	}
	want := strings.Split(found[1], ", ")
	slices.Sort(want)
	eachOverlay(t, func(t *testing.T, o *overlay) {
		var running []string
		for _, w := range o.workloads() {
			if w.ours() && w.service {
				running = append(running, stagesOf(t, &w.pod.Spec.Containers[0])...)
			}
		}
		slices.Sort(running)
		if !slices.Equal(running, want) {
			t.Errorf("the services run the stages %v, want %v", running, want)
		}
	})
}

// TestProgramsAcceptContainerArguments runs each container's command without the configuration
// file: it must get as far as reading that. Unknown commands, flags and stages fail earlier, with
// exit code 2.
func TestProgramsAcceptContainerArguments(t *testing.T) {
	if _, err := os.Stat(configPath); err == nil {
		t.Skipf("%s exists on this machine, so the program would run", configPath)
	}
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			if !w.ours() {
				continue
			}
			for _, c := range w.containers() {
				_, said, code := o.run(t, &c, path.Base(c.Command[0]), c.Args...)
				if code != 1 || !strings.Contains(said, "read configuration") {
					t.Errorf("%v: %v %v: exit code %d\n%s", w, c.Command, c.Args, code, said)
				}
				if path.Dir(c.Command[0]) != "/usr/local/bin" || len(c.Command) != 1 {
					t.Errorf("%v: %v: the image has the programs in /usr/local/bin", w, c.Command)
				}
			}
		}
	})
}

// TestRetrainingIsSuspendedAndEndsInTime checks that the job does not train next to the trainer
// service, and is not killed before its own timeout.
func TestRetrainingIsSuspendedAndEndsInTime(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, job := range all[*batchv1.CronJob](o) {
			if job.Spec.Suspend == nil || !*job.Spec.Suspend {
				t.Errorf("%s trains next to the streaming trainer", job.Name)
			}
			args := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
			patience := duration(t, args[slices.Index(args, "--timeout")+1])
			limit := time.Duration(*job.Spec.JobTemplate.Spec.ActiveDeadlineSeconds) * time.Second
			if patience >= limit {
				t.Errorf("%s is killed after %v, before its own timeout of %v", job.Name, limit, patience)
			}
		}
	})
}

// shutdownSlack is how much longer than the two timeouts a shutdown may take, according to
// docs/operations.md.
const shutdownSlack = 12 * time.Second

// TestGracePeriodsCoverShutdown compares a pod's grace period with the time that its process may
// take to stop.
func TestGracePeriodsCoverShutdown(t *testing.T) {
	const margin = 5 * time.Second
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			if !w.ours() || !w.service {
				continue
			}
			inForce := o.configuration(t, w.name)
			needed := duration(t, inForce.Shutdown.DrainTimeout) + duration(t, inForce.Kafka.LeaveTimeout) + shutdownSlack
			if grace := time.Duration(*w.pod.Spec.TerminationGracePeriodSeconds) * time.Second; grace < needed+margin {
				t.Errorf("%v is killed after %v, a shutdown takes %v at most", w, grace, needed)
			}
		}
	})
}

// TestConfiguredFilesAreMounted checks that files named in the configuration are on a volume.
func TestConfiguredFilesAreMounted(t *testing.T) {
	eachOverlay(t, func(t *testing.T, o *overlay) {
		for _, w := range o.workloads() {
			if !w.ours() {
				continue
			}
			kafka := o.configuration(t, w.name).Kafka
			mounted := mountedSecrets(w)
			for _, name := range []string{kafka.TLS.CAFile, kafka.SASL.PasswordFile} {
				if name != "" && !slices.Contains(mounted, name) {
					t.Errorf("%v: %s is not among the mounted files %v", w, name, mounted)
				}
			}
		}
	})
}

// mountedSecrets returns the paths of keys of Secrets that are mounted individually.
func mountedSecrets(w *workload) []string {
	var paths []string
	for _, mount := range w.pod.Spec.Containers[0].VolumeMounts {
		for _, volume := range w.pod.Spec.Volumes {
			if mount.Name != volume.Name || volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				if source.Secret == nil {
					continue
				}
				for _, item := range source.Secret.Items {
					paths = append(paths, path.Join(mount.MountPath, item.Path))
				}
			}
		}
	}
	return paths
}

// listenPort is the port on which the process listens on all addresses.
func (c *configuration) listenPort(t *testing.T) int32 {
	t.Helper()
	host, port, err := net.SplitHostPort(c.Admin.Listen)
	if err != nil || host != "" {
		t.Fatalf("admin.listen %q: probes come from outside the pod", c.Admin.Listen)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(number)
}

package integration

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// topicKeys are the configuration keys of the topics, with hyphens.
var topicKeys = []string{
	"events",
	"explorations",
	"scores",
	"samples",
	"feature-sets",
	"features",
	"models",
	"live",
	"dead-letters",
}

// site is a pipeline on a cluster, used with certain credentials.
type site struct {
	t      *testing.T
	config string
	name   string            // of the pipeline
	env    map[string]string // settings in addition to the file, by key
	said   *transcript
}

// transcript collects the output of processes.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *transcript) add(r clitest.Result) clitest.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.text, "%v: exit code %d\n%s%s\n", r.Args, r.Code, r.Out, r.Err)
	return r
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// newSite returns a pipeline with a unique name and unique topics. exploration is a section of the
// configuration.
func newSite(t *testing.T, addrs []string, exploration string) *site {
	t.Helper()
	s := &site{t: t, name: fmt.Sprintf("p%08x", rand.Uint32()), said: &transcript{}}
	var topics strings.Builder
	for _, key := range topicKeys {
		fmt.Fprintf(&topics, ", %s: %s", strings.ReplaceAll(key, "-", "_"), s.topic(key))
	}
	s.config = clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%s], fetch_max_wait: 20ms, session_timeout: 20s, heartbeat_interval: 100ms}
pipeline: {name: %s}
topics: {partitions: 3%s}
events: {label: [churned], passthrough: [city]}
exploration: {%s}
subsample: {checkpoint_interval: 300ms}
featurize: {commit_interval: 300ms}
train: {min_rows: 500, interval: 300ms}
admin: {listen: ""}
log: {level: debug}
`, strings.Join(addrs, ", "), s.name, topics.String(), exploration))
	return s
}

func (s *site) topic(key string) string { return s.name + "-" + key }

// as returns the site with more settings: pairs of key and value.
func (s *site) as(pairs ...string) *site {
	other := *s
	other.env = maps.Clone(s.env)
	if other.env == nil {
		other.env = map[string]string{}
	}
	for i := 0; i < len(pairs); i += 2 {
		other.env[pairs[i]] = pairs[i+1]
	}
	return &other
}

// command returns a command of a program on this site.
func (s *site) command(program string, args ...string) *exec.Cmd {
	cmd := clitest.Command(s.t, program, append(args, "-c", s.config)...)
	cmd.Env = os.Environ()
	for _, key := range slices.Sorted(maps.Keys(s.env)) {
		name := key
		if strings.Contains(key, ".") { // other keys are names of variables
			name = "EERF_" + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
		}
		cmd.Env = append(cmd.Env, name+"="+s.env[key])
	}
	return cmd
}

// run runs a command to its end.
func (s *site) run(program string, args ...string) clitest.Result {
	s.t.Helper()
	return s.said.add(clitest.Finish(s.t, s.command(program, args...)))
}

// start starts a service.
func (s *site) start(program string, args ...string) *clitest.Process {
	s.t.Helper()
	return clitest.Start(s.t, s.command(program, args...))
}

// stages starts `featurizer run` for some stages. It prints its counters when it ends.
func (s *site) stages(names string) *clitest.Process {
	s.t.Helper()
	return s.start("featurizer", "run", "--json", "--stages", names)
}

// stop shuts a service down and checks its exit code.
func (s *site) stop(p *clitest.Process) clitest.Result {
	s.t.Helper()
	return s.said.add(p.Stop(s.t)).Want(s.t, cli.ExitOK, "stopped")
}

// produce writes rows to events.
func (s *site) produce(rows int) {
	s.t.Helper()
	data := clitest.File(s.t, "rows.csv", clitest.Mixed(rows))
	s.run("featurizer", "produce", "--data", data, "--rows-per-message", "100").Want(s.t, cli.ExitOK)
}

// untilTrained fits until every row was read for the model, and returns the model.
func (s *site) untilTrained(rows int) (model clitest.Object) {
	s.t.Helper()
	clitest.Eventually(s.t, fmt.Sprintf("%d rows are trained on", rows), func() bool {
		r := s.run("trainer", "fit", "--json")
		if r.Code != cli.ExitOK {
			return false
		}
		model = r.Object(s.t)
		return model.Number(s.t, "rows.rows") == float64(rows) // some neither teach nor judge: older held-out rows
	})
	return model
}

// featureSet returns the id of the current set.
func (s *site) featureSet() string {
	s.t.Helper()
	return s.run("featurizer", "inspect", "--json").Want(s.t, cli.ExitOK).Object(s.t).Text(s.t, "feature_set.id")
}

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// TestExtremesOnPipeline sends the extremes of every value of the table to whole pipelines: to
// their topics, their HTTP servers, and as answers of their registry. No process may end, stop
// answering or stop working, and commands that read the topics must end.
//
// One pipeline is at work when the extremes arrive, the other one starts with them. With
// EERF_TEST_EXTREMES=each, both do their whole work after the extremes of each topic.
func TestExtremesOnPipeline(t *testing.T) {
	table := newCoverage()
	t.Run("group", func(t *testing.T) {
		for task, atWork := range map[string]bool{"regression": true, "classification": false} {
			t.Run(task, func(t *testing.T) {
				t.Parallel()
				newAssault(t, task, table).run(atWork)
			})
		}
	})
	if !t.Failed() {
		table.check(t)
	}
}

// coverage counts the extremes by value of the table.
type coverage struct {
	mu    sync.Mutex
	tried map[string]int
}

func newCoverage() *coverage { return &coverage{tried: map[string]int{}} }

func (c *coverage) add(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried[value]++
}

// elsewhere are the tests that try the extremes of other values, with their folders.
var elsewhere = map[string][2]string{
	"answers with tokens access_token":   {"../../pipeline/oauth", "TestExtremesOfTokens"},
	"answers with tokens expires_in":     {"../../pipeline/oauth", "TestExtremesOfTokens"},
	"answers with tokens exp":            {"../../pipeline/oauth", "TestExtremesOfTokens"},
	"columns of feature sets kind":       {"../../arrowio/wire", "TestExtremesOfColumns"}, // sets here have one kind
	"columns of feature sets coordinate": {"../../arrowio/wire", "TestExtremesOfColumns"},
	"columns of feature sets sign":       {"../../arrowio/wire", "TestExtremesOfColumns"},
	"columns of feature sets threshold":  {"../../arrowio/wire", "TestExtremesOfColumns"},
	"parts of requests to serve rows":    {"../internal/serve", "TestUnusableRows"},
	"records offset":                     {"../../pipeline/kafka", "FuzzRecordSets"}, // brokers assign it
}

// check fails for a value of the table that no extreme was tried for.
func (c *coverage) check(t *testing.T) {
	total := 0
	for _, n := range c.tried {
		total += n
	}
	for _, s := range outsideSources() {
		for _, v := range s.Values {
			name := s.Name + " " + v.Name
			if c.tried[name] == 0 && elsewhere[name] == [2]string{} {
				t.Errorf("no extremes of %s: %s", s.Name, v.Name)
			}
		}
	}
	for name, test := range elsewhere {
		files, err := filepath.Glob(filepath.Join(test[0], "*_test.go"))
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			found = found || err == nil && strings.Contains(string(text), "func "+test[1]+"(")
		}
		if err != nil || !found {
			t.Errorf("%s: %s has no test %s", name, test[0], test[1])
		}
	}
	t.Logf("%d values", total)
}

// assault is a pipeline that gets extreme values.
type assault struct {
	t         *testing.T
	task      string
	broker    *stagestest.Broker
	client    *kafka.Client
	config    string
	processes map[string]*clitest.Process
	rows      int // sent so far
	table     *coverage
	examples  map[string][]pipeline.Record // by topic
}

// roles are the topics of the pipeline by the names in the table.
var roles = []string{
	"events", "explorations", "scores", "samples", "feature-sets", "features", "models", "live", "dead-letters",
}

// run attacks the pipeline while it works, or between two runs of it.
func (a *assault) run(atWork bool) {
	each := os.Getenv("EERF_TEST_EXTREMES") == "each"
	a.start()
	a.send(2000)
	a.damage()
	a.work("before the extremes")
	a.examples = a.newestRecords()
	for i, role := range roles {
		last := i == len(roles)-1
		if !atWork && (each || i == 0) {
			a.stop()
		}
		a.attack(role, a.attacksOn(role))
		if !each && !last {
			if atWork {
				a.alive(role)
			}
			continue
		}
		if !atWork {
			a.commands()
			a.start()
		}
		a.work("after the extremes on " + role)
	}
	a.requests()
	a.alive("after the requests")
	a.stop()
}

// attacksOn are the records for a topic, in random order if processes read them at their start.
func (a *assault) attacksOn(role string) (all []attack) {
	for _, s := range outsideSources() {
		if on(s, role) || role == "events" && strings.HasPrefix(s.Name, "header") {
			all = append(all, attacks(a.t, s, a.examples[role])...)
		}
	}
	if role == "events" {
		all = append(all, eventMutants(a.examples[role][0], 300)...)
		all = append(all, eventBounds(a.t)...)
		all = append(all, schemaIDs()...)
	}
	if a.task == "classification" {
		random := rand.New(rand.NewPCG(38, uint64(len(role))))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all
}

func newAssault(t *testing.T, task string, table *coverage) *assault {
	a := &assault{
		t:         t,
		task:      task,
		broker:    stagestest.NewBroker(t),
		processes: map[string]*clitest.Process{},
		table:     table,
	}
	a.client = a.broker.Dial(nil)
	a.config = clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms, session_timeout: 6s, heartbeat_interval: 100ms, group_instance: none}
registry: {url: [%q]}
pipeline: {name: p}
topics: {partitions: 1}
events: {label: [y], nan: reject, task: %s}
exploration: {features: 8, candidates: 64, min_rows: 400, calibration_rows: 200, sample_rows: 1000, learning_time: 1s}
subsample: {checkpoint_interval: 100ms}
featurize: {commit_interval: 100ms, predictions: true}
train: {interval: 200ms, min_rows: 100}
admin: {listen: "127.0.0.1:0", pprof: true}
serve: {listen: "127.0.0.1:0"}
log: {format: json}
`, a.broker.Addr(), hostileRegistry(t, table), task))
	a.command("topics", "create").Want(t, cli.ExitOK)
	return a
}

// command runs a command of featurizer on the pipeline.
func (a *assault) command(args ...string) clitest.Result {
	a.t.Helper()
	return fz(a.t, append(args, "-c", a.config)...)
}

// trainer runs a command of trainer on the pipeline.
func (a *assault) trainer(args ...string) clitest.Result {
	a.t.Helper()
	return clitest.Finish(a.t, a.program("trainer", args...))
}

func (a *assault) program(name string, args ...string) *exec.Cmd {
	return clitest.Command(a.t, name, append(args, "-c", a.config)...)
}

// start starts the services.
func (a *assault) start() {
	a.t.Helper()
	stages := []string{"run", "--stages", "calibrate,subsample,selection,featurize"}
	a.processes["featurizer"] = clitest.Start(a.t, a.program("featurizer", stages...))
	a.processes["trainer"] = clitest.Start(a.t, a.program("trainer", "run"))
	a.processes["serve"] = clitest.Start(a.t, a.program("featurizer", "serve"))
}

// stop ends the services as an orchestrator does.
func (a *assault) stop() {
	a.t.Helper()
	const patience = 10 * time.Second
	for name, p := range a.processes {
		began := time.Now()
		if r := p.Stop(a.t); r.Code != cli.ExitOK || time.Since(began) > patience {
			a.t.Errorf("%s ends with %d after %v\n%s", name, r.Code, time.Since(began), tail(r.Err))
		}
	}
	clear(a.processes)
}

func tail(log string) string { return log[max(0, len(log)-3000):] }

// send writes rows to events.
func (a *assault) send(rows int) {
	a.t.Helper()
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	for range rows {
		i := a.rows
		a.rows++
		x := float64(i%97)/97 - 0.5
		y := fmt.Sprint(x*x*4 + float64(i*7%11)/50)
		if a.task == "classification" {
			y = []string{"low", "mid", "high"}[min(2, int(x*x*15))]
		}
		fmt.Fprintf(&text, "%g,%d,%s,%s\n", x, i%13, []string{"red", "green", "blue"}[i%3], y)
	}
	data := clitest.File(a.t, "rows.csv", text.String())
	a.command("produce", "--data", data, "--rows-per-message", "50").Want(a.t, cli.ExitOK)
}

// damage sends an event that cannot be decoded and one with an unusable row, for dead letters.
func (a *assault) damage() {
	a.t.Helper()
	sent := stagestest.All(a.t, a.client, "p.events", 0)
	row := rewrite(sent[0].Value, func(_ map[string]string, _ []arrow.Field, columns []arrow.Array) {
		putWord(columns[0], [8]byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}) // NaN
	})
	for _, value := range [][]byte{[]byte("hello"), row} {
		if _, err := a.client.Produce(a.t.Context(), "p.events", 0, []pipeline.Record{{Value: value}}); err != nil {
			a.t.Fatal(err)
		}
	}
}

// newestRecords returns the newest record of each kind, by topic.
func (a *assault) newestRecords() map[string][]pipeline.Record {
	a.t.Helper()
	found := map[string][]pipeline.Record{}
	for _, role := range roles {
		kinds := map[string]pipeline.Record{}
		for _, r := range stagestest.All(a.t, a.client, "p."+role, 0) {
			kind := string(outside.Member(r.Value, "document"))
			for _, h := range r.Headers {
				kind += " " + h.Key
			}
			if r.Value != nil {
				kinds[kind] = r
			}
		}
		for _, r := range kinds {
			found[role] = append(found[role], r)
		}
		if len(kinds) == 0 {
			a.t.Fatalf("no record on %s", role)
		}
	}
	request := &wire.Request{Action: wire.ActionStart, ID: "x", Reason: "y", Time: time.Now()}
	value, err := wire.EncodeRequest(request)
	if err != nil {
		a.t.Fatal(err)
	}
	found["explorations"] = append(found["explorations"], pipeline.Record{Key: wire.RequestKey("p", "x"), Value: value})
	at := slices.IndexFunc(found["scores"], func(r pipeline.Record) bool { return !wire.IsJSON(r.Value) })
	refused := found["scores"][at]
	refusal := &wire.Refusal{Exploration: string(refused.Key), SpecHash: "x", Attempt: 1, Reason: "y", Time: time.Now()}
	if refused.Value, err = wire.EncodeRefusal(refusal); err != nil {
		a.t.Fatal(err)
	}
	found["scores"] = append(found["scores"], refused)
	return found
}

// attack writes records to a topic. The broker may refuse some.
func (a *assault) attack(role string, all []attack) {
	a.t.Helper()
	var pending []pipeline.Record
	size := 0
	flush := func() {
		if _, err := a.client.Produce(a.t.Context(), "p."+role, 0, pending); err != nil {
			for _, r := range pending { // one at a time, without the refused ones
				_, _ = a.client.Produce(a.t.Context(), "p."+role, 0, []pipeline.Record{r})
			}
		}
		pending = nil
		size = 0
	}
	const batch = 256 << 10
	for _, one := range all {
		a.table.add(one.value)
		r := pipeline.Record{Key: one.record.Key, Value: one.record.Value, Headers: one.record.Headers, Time: one.record.Time}
		if len(pending) > 0 && size+r.Size() > batch {
			flush()
		}
		pending = append(pending, r)
		size += r.Size()
	}
	flush()
}

// alive checks that every process runs and answers its probes and its page.
func (a *assault) alive(when string) {
	a.t.Helper()
	const patience = 5 * time.Second
	for name, p := range a.processes {
		a.running(when)
		for _, path := range []string{"/livez", "/readyz", "/metrics", "/api/status", "/config", "/version"} {
			began := time.Now()
			code, body := p.Get(a.t, path)
			if code == 0 || time.Since(began) > patience {
				a.t.Errorf("%s: %s answers %s with %d after %v: %s", when, name, path, code, time.Since(began), body)
			}
			if path == "/api/status" && name == "featurizer" && (code != http.StatusOK || !json.Valid([]byte(body))) {
				a.t.Errorf("%s: %s: /api/status: %d %.300s", when, name, code, body)
			}
		}
	}
}

// running fails the test if a process has ended.
func (a *assault) running(when string) {
	a.t.Helper()
	for name, p := range a.processes {
		select {
		case <-p.Ended():
			a.t.Fatalf("%s: %s has ended\n%s", when, name, tail(p.Log()))
		default:
		}
	}
}

// work checks that the pipeline does its whole work: an exploration, features of every event, a
// model of the set, a live block, and a service that answers.
func (a *assault) work(when string) {
	a.t.Helper()
	began := time.Now()
	a.send(800)
	a.command("explorations", "start").Want(a.t, cli.ExitOK)
	a.until(when+": an exploration is published", func() (string, bool) {
		r := a.command("explorations", "list", "--json")
		if r.Code != cli.ExitOK {
			return r.Err, false
		}
		o := r.Object(a.t)
		open, _ := o["requests"].([]any)
		newest, _ := o["newest"].(map[string]any)
		return r.Out, newest != nil && newest["status"] == "published" && len(open) == 0
	})
	a.send(800)
	set := a.command("inspect", "--json").Want(a.t, cli.ExitOK).Object(a.t).Text(a.t, "feature_set.id")
	end := a.end("events")
	a.until(when+": features", func() (string, bool) {
		n := a.featurized()
		return fmt.Sprintf("%d of %d", n, end), n >= end
	})
	a.until(when+": a model of the set", func() (string, bool) {
		r := a.trainer("models", "list", "--json")
		return r.Out + r.Err, r.Code == cli.ExitOK && strings.Contains(r.Out, set)
	})
	blocks := a.end("live")
	a.until(when+": a live block", func() (string, bool) {
		a.send(300)
		now := a.end("live")
		return fmt.Sprint(now), now > blocks
	})
	a.alive(when)
	a.t.Logf("%s: %v", when, time.Since(began).Round(time.Millisecond))
}

// end returns the next offset of a topic.
func (a *assault) end(role string) int64 {
	a.t.Helper()
	_, end, err := a.client.Offsets(a.t.Context(), "p."+role, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	return end
}

// featurized returns the offset of events after the last output of featurize.
func (a *assault) featurized() (next int64) {
	a.t.Helper()
	for _, r := range stagestest.All(a.t, a.client, "p.features", 0) {
		if b, err := wire.ParseFeatureHeaders(r.Headers); err == nil && b.Last() {
			next = b.SourceOffset + 1
		}
	}
	return next
}

// until waits for a state, for at most half a minute.
func (a *assault) until(what string, ok func() (string, bool)) {
	a.t.Helper()
	const patience = 30 * time.Second
	for began := time.Now(); ; {
		found, done := ok()
		if done {
			return
		}
		a.running(what)
		if time.Since(began) > patience {
			logs := ""
			for name, p := range a.processes {
				logs += name + ": " + tail(p.Log()) + "\n"
			}
			a.t.Fatalf("not within %v: %s: %s\n%s", patience, what, found, logs)
		}
		select {
		case <-a.t.Context().Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// commands runs the commands that read the topics. They may fail, with a message.
func (a *assault) commands() {
	a.t.Helper()
	dir := a.t.TempDir()
	const patience = 20 * time.Second
	for _, line := range []string{
		"featurizer topics check",
		"featurizer topics export --topic p.features --out " + dir + "/features",
		"featurizer topics export --topic p.live --out " + dir + "/live",
		"featurizer explorations list",
		"featurizer explorations start --dry-run",
		"featurizer explorations cancel",
		"featurizer inspect",
		"featurizer export --onnx " + dir + "/set.onnx",
		"featurizer dead-letters list",
		"featurizer dead-letters export --out " + dir + "/letters",
		"featurizer dead-letters replay --all --dry-run",
		"trainer models list",
		"trainer models show",
		"trainer models unpin",
		"trainer export --onnx " + dir + "/model.onnx",
		"trainer fit --timeout 5s",
	} {
		args := strings.Fields(line)
		began := time.Now()
		r := clitest.Finish(a.t, a.program(args[0], args[1:]...))
		switch {
		case r.Code != cli.ExitOK && r.Code != cli.ExitFailure || strings.Contains(r.Err, "goroutine "):
			a.t.Errorf("%s ends with %d\n%s", line, r.Code, tail(r.Err))
		case time.Since(began) > patience:
			a.t.Errorf("%s takes %v", line, time.Since(began))
		case strings.ContainsAny(r.Out+r.Err, "\x1b\x00\x01"):
			a.t.Errorf("%s prints control characters: %q", line, tail(r.Out+r.Err))
		}
	}
}

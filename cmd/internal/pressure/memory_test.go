package pressure

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline"
)

// tight is a configuration with small budgets.
const tight = `
kafka: {brokers: [BROKERS], fetch_max_wait: 20ms, fetch_max_bytes: 1MiB, batch_budget_bytes: 4MiB, fetch_memory: 20MiB, session_timeout: 6s}
topics: {partitions: 2, max_message_bytes: 1MiB, keep_feature_sets: 2}
limits: {max_message_bytes: 1MiB, budget_bytes: 4MiB}
memory: {messages: 2}
featurize: {output_memory: 16MiB}
subsample: {checkpoint_interval: 1s}
`

// peak is the largest resident size of a process in bytes.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no peak memory on this system:", err)
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("/proc has no VmHWM")
	return 0
}

// gauge returns one of the service's metrics.
func gauge(t *testing.T, service *clitest.Process, name string) float64 {
	t.Helper()
	address := service.LogLine(t, "serving health, metrics and configuration").Text(t, "address")
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	value, err := clitest.Metric(string(text), name)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// within compares the peak memory of a service with its limit, and checks that the metrics report
// both.
func (s *site) within(what string, service *clitest.Process, limit int64) {
	s.t.Helper()
	// Read first, because the peak covers only the time before it.
	reported := int64(gauge(s.t, service, "process_resident_memory_bytes"))
	high := peak(s.t, service.PID())
	s.t.Logf("%s: peak of the resident set %d MB, worst case %.0f MB, limit %d MB",
		what, high/1_000_000, gauge(s.t, service, "eerf_memory_worst_case_bytes")/1e6, limit/1_000_000)
	if high > limit {
		s.t.Errorf("%s: peak of %d resident bytes, limit %d", what, high, limit)
	}
	if got := int64(gauge(s.t, service, "eerf_memory_limit_bytes")); got != limit {
		s.t.Errorf("%s: reports a limit of %d bytes, want %d", what, got, limit)
	}
	if reported < 1<<20 || reported > high {
		s.t.Errorf("%s: reports %d resident bytes, peak %d", what, reported, high)
	}
}

// refuse makes the broker refuse some produce requests to a topic. Stages should retry them.
func (s *site) refuse(topic string) {
	for _, err := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.RequestTimedOut} {
		s.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: err, Count: 4})
	}
}

// served returns the settings of a service with a memory limit and a metrics page.
func served(limit int64) []string {
	return []string{fmt.Sprintf("memory.limit=%d", limit), "admin.listen=127.0.0.1:0"}
}

// The events exceed the memory of a process. Its source is faster and its sink slower than the
// process, and the sink sometimes refuses writes. The process stays within its limit, and drops no
// event.
func TestMemoryStaysWithinItsLimit(t *testing.T) {
	const messages = 800 // 259 MB of events, 164 MB of features
	s := newSite(t, tight+`
exploration: {features: 64, candidates: 512, sample_rate: 0.05, sample_memory: 320MiB, calibration_rows: 500, candidate_memory: 16MiB}
train: {loss: squared}
`)
	s.send(messages/2, 800, 100)
	s.poison()
	s.send(messages/2, 800, 100)
	for _, topic := range []string{"pressure.scores", "pressure.samples", "pressure.dead-letters", "pressure.features"} {
		s.refuse(topic)
	}

	limits := map[string]int64{}
	start := func(names string) *clitest.Process {
		limits[names] = s.stated(names)
		return s.stages(names, served(limits[names])...)
	}
	planner, subsampler := start("calibrate,selection"), start("subsample")
	s.await("a feature set", s.hasSet, subsampler, planner)
	s.within("a stage slower than its source", subsampler, limits["subsample"])
	subsampler.Stop(t).Want(t, cli.ExitOK, "retrying")
	s.within("a selection from 32,000 rows", planner, limits["calibrate,selection"])
	planner.Stop(t).Want(t, cli.ExitOK)
	s.wantDeadLetters("subsample")

	// Slows the sink down; no outcome depends on the time.
	s.hold("pressure.features", func() { time.Sleep(5 * time.Millisecond) })
	featurizer := start("featurize")
	s.awaitFeatures(featurizer)
	s.within("a sink slower than the stage", featurizer, limits["featurize"])
	featurizer.Stop(t).Want(t, cli.ExitOK, "retrying")
	s.wantDeadLetters("subsample", "featurize")

	trainer := start("train")
	s.await("a model", func() bool { return s.next("pressure.models", 0) >= 2 }, trainer)
	s.within("training", trainer, limits["train"])
	trainer.Stop(t).Want(t, cli.ExitOK)
}

// wantDeadLetters checks that exactly these stages have sent dead letters, each for the unusable
// message. One may occur twice, because the broker has performed some of the requests that it
// refused.
func (s *site) wantDeadLetters(stages ...string) {
	s.t.Helper()
	for p := range s.refused {
		sent := map[string]bool{}
		r := pipeline.NewReader(
			s.client,
			zap.NewNop(),
			"pressure.dead-letters",
			p,
			pipeline.ReadOptions{Until: pipeline.PresentEnd},
		)
		for rec, err := range r.Records(s.t.Context()) {
			if err != nil {
				s.t.Fatal(err)
			}
			deadLetter, err := wire.ParseDeadLetterHeaders(wireHeaders(rec))
			if err != nil || deadLetter.Offset != s.refused[p] || string(rec.Value) != "poison" {
				s.t.Errorf("dead letter %+v, %v", deadLetter, err)
			}
			sent[deadLetter.Stage] = true
		}
		for _, stage := range stages {
			if !sent[stage] || len(sent) != len(stages) {
				s.t.Errorf("dead letters of partition %d come from %v, want %v", p, sent, stages)
			}
		}
	}
}

// Making and using the largest feature set that fits a message stays within the limit.
func TestMemoryStaysWithinItsLimitWithTheLargestSet(t *testing.T) {
	const limit, columns = 768 << 20, 20
	features := 1 << 20 / 108
	for wire.FeatureSetBytes(features, columns, 1, 2) > 1<<20-1<<10 {
		features--
	}
	s := newSite(t, tight+fmt.Sprintf(`
exploration: {criterion: correlation, features: %d, candidates: %d, sample_rate: 1, calibration_rows: 500, candidate_memory: 64MiB}
`, features, features))
	s.send(20, 100, columns)
	service := s.stages("calibrate,subsample,selection,featurize", served(limit)...)
	s.awaitFeatures(service)
	s.within(fmt.Sprintf("%d features of %d dimensions", features, columns), service, limit)
	service.Stop(t).Want(t, cli.ExitOK)
	clitest.Finish(t, clitest.Command(t, "featurizer", "run", "-c", s.config, "--set", fmt.Sprintf(
		"exploration.features=%d", 2*features,
	),
		"--set", fmt.Sprintf(
			"exploration.candidates=%d", 2*features,
		), "--set", "events.features=x000,x001,x002,x003,x004,x005,x006,x007,x008,x009,x010,x011,x012,x013,x014,x015,x016,x017,x018,x019"),
	).
		Want(t, cli.ExitUsage, "a feature set takes")
}

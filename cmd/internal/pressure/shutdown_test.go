package pressure

import (
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// quick is a configuration with short explorations.
const quick = `
kafka: {brokers: [BROKERS], fetch_max_wait: 20ms, session_timeout: 6s, leave_timeout: 2s}
topics: {partitions: 2}
exploration: {features: 16, candidates: 16, sample_rate: 1, min_rows: 100, calibration_rows: 100}
featurize: {max_output_bytes: 4KiB}
`

// begun counts the produce requests to a topic and signals the first.
type begun struct {
	requests atomic.Int64
	once     sync.Once
	first    chan struct{}
}

func newBegun() *begun { return &begun{first: make(chan struct{})} }

func (b *begun) one() {
	b.requests.Add(1)
	b.once.Do(func() { close(b.first) })
}

// await waits for the first request.
func (b *begun) await(t *testing.T, service *clitest.Process) {
	t.Helper()
	select {
	case <-b.first:
	case <-service.Ended():
		t.Fatal(service.Log())
	case <-time.After(clitest.Patience):
		t.Fatalf("no request\n%s", service.Log())
	}
}

// After SIGTERM, a process finishes its work, leaves its groups, and exits with code 0.
func TestSignalDrains(t *testing.T) {
	s := newSite(t, quick)
	s.send(20, 50, 3)
	s.explore()
	began, told := newBegun(), make(chan struct{})
	release := sync.OnceFunc(func() { close(told) })
	t.Cleanup(release)
	s.hold("pressure.features", func() {
		began.one()
		<-told
	})
	service := s.stages("featurize")
	began.await(t, service)
	service.Signal(t, syscall.SIGTERM)
	service.AwaitLog(t, "shutting down") // in the middle of the work
	release()
	service.Wait().Want(t, cli.ExitOK, "stopped")
	if n := s.members("featurize"); n != 0 {
		t.Errorf("group still has %d members", n)
	}
	s.awaitFeatures(s.stages("featurize")) // checks that features has every row in order
}

// A process that stops in the middle of a range first saves the scores since its last checkpoint.
func TestSignalSavesScores(t *testing.T) {
	s := newSite(t, strings.Replace(quick, "fetch_max_wait", "fetch_max_bytes: 4KiB, fetch_max_wait", 1)+`
subsample: {checkpoint_rows: 1000000, checkpoint_interval: 1h}
`)
	s.send(40, 50, 3)
	planner := s.stages("calibrate")
	clitest.Eventually(t, "a plan", func() bool { return s.next("pressure.explorations", 0) > 0 })
	planner.Stop(t).Want(t, cli.ExitOK)
	middle, free := s.next("pressure.events", 0)/2, make(chan struct{})
	release := sync.OnceFunc(func() { close(free) })
	t.Cleanup(release)
	read, events := newBegun(), s.cluster.TopicInfo("pressure.events").TopicID
	s.cluster.ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
		s.cluster.KeepControl()
		for _, topic := range request.(*kmsg.FetchRequest).Topics {
			for _, p := range topic.Partitions {
				if topic.TopicID == events && p.FetchOffset >= middle {
					if p.Partition == 0 {
						read.one()
					}
					s.cluster.SleepControl(func() { <-free })
				}
			}
		}
		return nil, nil, false
	})
	service := s.stages("subsample")
	read.await(t, service)
	const fence = 1 // the marker of the owner that opened its writer
	if n := s.next("pressure.scores", 0) - fence; n != 0 {
		t.Fatalf("%d checkpoints before the signal", n)
	}
	totals := service.Stop(t).Want(t, cli.ExitOK).Object(t)
	if rows := totals.Number(t, "scoring.rows"); s.next("pressure.scores", 0) != fence+1 || rows < 500 || rows > 1900 {
		t.Errorf("%d checkpoints, %v", s.next("pressure.scores", 0)-fence, totals)
	}
	if n := s.members("subsample"); n != 0 {
		t.Errorf("group still has %d members", n)
	}
	release()
	again := s.stages("subsample")
	again.AwaitLog(t, `"restored":true`)
	again.Stop(t).Want(t, cli.ExitOK)
}

// stuck returns a site whose sink accepts no features until released, and a service that waits for
// the sink.
func stuck(t *testing.T, sets ...string) (s *site, service *clitest.Process, release func()) {
	t.Helper()
	s = newSite(t, quick)
	s.send(20, 50, 3)
	s.explore()
	free := make(chan struct{})
	release = sync.OnceFunc(func() { close(free) })
	t.Cleanup(release)
	began := newBegun()
	s.hold("pressure.features", func() {
		began.one()
		<-free
	})
	service = s.stages("featurize", sets...)
	began.await(t, service)
	return s, service, release
}

// If the sink hangs, the wait ends after the configured time with its own exit code, and the next
// process does the work.
func TestSignalWithASinkThatHangs(t *testing.T) {
	s, service, release := stuck(t, "shutdown.drain_timeout=1s")
	signalled := time.Now()
	result := service.Stop(t).
		Want(t, cli.ExitUnfinished, "not finished within shutdown.drain_timeout", "partitions featurize")
	if took := time.Since(signalled); took < time.Second {
		t.Errorf("gave up after %v", took)
	}
	result.Object(t) // the counters
	release()
	s.awaitFeatures(s.stages("featurize"))
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	_, service, _ := stuck(t, "shutdown.drain_timeout=29s")
	service.Signal(t, syscall.SIGTERM)
	service.AwaitLog(t, "shutting down")
	service.Signal(t, syscall.SIGTERM)
	if code := service.Wait().Code; code != cli.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

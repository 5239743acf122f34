package crash

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/internal/hostile"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// The flags of TestBack; the Makefile sets them.
var (
	roundsFlag = flag.Int("rounds", 0, "repetitions of each kind of death; 0 = only the first kind, once")
	worstFlag  = flag.Duration("worst", 15*time.Second,
		"longest standstill of a partition; a busy machine needs more than the promise")
)

// inARow is the number of processes that die in succession, most of them before they have joined
// their groups.
const inARow = 12

// TestBack measures the standstill of features partitions after SIGKILL, with the default settings.
func TestBack(t *testing.T) {
	if testing.Short() || hostile.RaceDetector {
		t.Skip("runs processes")
	}
	t.Parallel() // runs next to the schedules, which mostly wait
	b := newBack(t)
	once := func(at int) time.Time {
		began := b.kill(at)
		b.spawn(at)
		return began
	}
	repeatedly := func(at int) (began time.Time) {
		for range inARow {
			began = once(at)
			time.Sleep(rand.N(time.Second))
		}
		return began
	}
	ways := []struct {
		name      string
		processes int // sharing the partitions
		death     func(at int) time.Time
	}{
		{"one process, twelve in a row", 1, repeatedly}, // slowest if a successor waits for dead members
		{"one process, restarted", 1, once},
		{"one of two, restarted", 2, once},
		{"one of two, twelve in a row", 2, repeatedly},
		{"one of two, not restarted", 2, b.kill},
	}
	if *roundsFlag == 0 {
		ways = ways[:1]
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			b.t = t
			var took []time.Duration
			for range max(*roundsFlag, 1) {
				b.settle(way.processes)
				began := way.death(rand.IntN(way.processes))
				took = append(took, b.await(b.dead).Sub(began).Round(time.Millisecond))
			}
			slices.Sort(took)
			t.Logf("%v, median %v, worst %v", took, took[len(took)/2], took[len(took)-1])
			if worst := took[len(took)-1]; worst > *worstFlag {
				t.Errorf("a partition stopped for %v", worst)
			}
		})
	}
}

// back is a pipeline with a flow of events, and its processes.
type back struct {
	t        *testing.T // of the current subtest
	dir      string
	program  string
	settings []string
	loaded   *config.Config
	client   *kafka.Client
	foreign  *kgo.Client
	running  []*process        // nil = none at that place
	dead     [partitions]int64 // ends of the features partitions after the last death
}

func newBack(t *testing.T) *back {
	dir := t.TempDir()
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	var broker Broker
	if *kafkaFlag == "real" {
		broker, err = realKafka()
	} else {
		broker, err = startEmbedded(t.Context(), dir, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	name := fmt.Sprintf("back%d", rand.Uint64N(1e12))
	plan := &Plan{Criterion: "correlation", From: wire.FromEarliest}
	values := keys(name, plan, testSession, broker.Addrs())
	kept := []string{
		"kafka.brokers",
		"pipeline.",
		"topics.",
		"events.",
		"exploration.candidates",
		"exploration.features",
		"exploration.criterion",
		"exploration.min_rows",
		"exploration.sample_rows",
		"admin.",
	}
	maps.DeleteFunc(values, func(key string, _ any) bool {
		return !slices.ContainsFunc(kept, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
	b := &back{dir: dir, program: program, settings: arguments(values), t: t, running: make([]*process, 2)}
	if b.loaded, err = config.Load(nil, "", values); err != nil {
		t.Fatal(err)
	}
	if b.client, err = kafka.New(b.loaded.Kafka, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.client.Close() })
	if b.foreign, err = kgo.NewClient(kgo.SeedBrokers(broker.Addrs()...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.foreign.Close)
	if _, err := topics.Create(t.Context(), b.client, b.loaded.Stages.Topics); err != nil {
		t.Fatal(err)
	}
	b.feed()
	t.Cleanup(func() {
		for _, p := range b.running {
			if p != nil {
				p.kill()
			}
		}
	})
	return b
}

// feed sends events until the test ends: first enough for a feature set, then one to each partition
// every 20 ms.
func (b *back) feed() {
	t := b.t
	input, err := NewInput(1)
	if err != nil {
		t.Fatal(err)
	}
	send := func(partition, n int) error {
		m := input[partition][n%allMessages]
		_, err := b.client.Produce(t.Context(), b.loaded.Stages.Topics.Events, partition, []pipeline.Record{{Value: m.Value}})
		return err
	}
	n := 0
	for ; n < allMessages; n++ {
		for partition := range partitions {
			if err := send(partition, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(20 * time.Millisecond); t.Context().Err() == nil; n++ {
			for partition := range partitions {
				_ = send(partition, n)
			}
			<-tick
		}
	}()
	t.Cleanup(func() { <-done })
}

// spawn starts a process that runs every stage.
func (b *back) spawn(at int) {
	var err error
	args := append([]string{"run", "--stages", RoleAll.stages()}, b.settings...)
	log := filepath.Join(b.dir, fmt.Sprintf("%d.log", at))
	b.running[at], err = startProcess(log, failpoint.Trigger{}, 0, b.program, args...)
	if err != nil {
		b.t.Fatal(err)
	}
}

// kill kills a process, if any, and returns the time.
func (b *back) kill(at int) time.Time {
	began := time.Now()
	if p := b.running[at]; p != nil {
		p.kill()
		b.running[at] = nil
		b.dead = b.ends()
	}
	return began
}

// settle starts or kills processes until a number of them share the partitions, and waits for
// features of every partition.
func (b *back) settle(processes int) {
	for at := range b.running {
		if at >= processes {
			b.kill(at)
		} else if b.running[at] == nil {
			b.spawn(at)
		}
	}
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Groups = []string{b.loaded.Stages.Group("featurize")}
	pipelinetest.Eventually(b.t, "a group at rest", func() bool {
		response, err := request.RequestWith(b.t.Context(), b.foreign)
		return err == nil && len(response.Groups) == 1 && response.Groups[0].State == "Stable" &&
			len(response.Groups[0].Members) == processes
	})
	b.await(b.ends())
}

// ends returns the ends of the features partitions after requests in flight have arrived.
func (b *back) ends() (ends [partitions]int64) {
	time.Sleep(50 * time.Millisecond)
	for partition := range partitions {
		ends[partition] = b.end(partition)
	}
	return ends
}

func (b *back) end(partition int) int64 {
	next, err := b.client.Written(b.t.Context(), b.loaded.Stages.Topics.Features, partition)
	if err != nil {
		b.t.Fatal(err)
	}
	return next
}

// await waits until every partition of features has grown, and returns the time.
func (b *back) await(ends [partitions]int64) time.Time {
	pipelinetest.Eventually(b.t, "features in every partition", func() bool {
		for partition, end := range ends {
			if b.end(partition) <= end {
				return false
			}
		}
		return true
	})
	return time.Now()
}

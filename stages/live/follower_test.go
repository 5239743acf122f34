package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

const topic = "p.live"

// record is the record of a block, published at a time.
func record(t testing.TB, b *wire.Block, at time.Time) pipeline.Record {
	t.Helper()
	value, err := wire.EncodeBlock(b)
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Record{Key: wire.BlockKey(b), Value: value, Time: at}
}

// publish appends a block of a partition that ends some seconds after noon.
func publish(t testing.TB, broker *pipelinetest.Broker, partition, offset, second int) {
	t.Helper()
	at := noon.Add(time.Duration(second) * time.Second)
	b := &wire.Block{
		Pipeline:    "p",
		Partition:   int32(partition),
		FirstOffset: int64(offset),
		NextOffset:  int64(offset) + 1,
		From:        at,
		To:          at,
		Models:      []wire.LiveSums{*sums(250, 1, 1, 1)},
	}
	if _, err := broker.Produce(t.Context(), topic, partition,
		[]pipeline.Record{record(t, b, noon.Add(time.Minute))}); err != nil {
		t.Fatal(err)
	}
}

func newFollower(log pipeline.Log) *Follower {
	return NewFollower(log, zap.NewNop(), func() time.Time { return noon.Add(time.Minute) }, topic, "p")
}

// order lists the blocks of a window as partition@second.
func order(w *Window) string {
	var list []string
	for _, k := range w.blocks {
		list = append(list, fmt.Sprint(k.Partition, "@", k.To.Sub(noon).Seconds()))
	}
	return strings.Join(list, " ")
}

func TestFollowerMergesPartitionsByTime(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topic, 3)
	for i, second := range []int{1, 5, 6} {
		publish(t, broker, 0, i, second)
	}
	if _, err := broker.Produce(t.Context(), topic, 1, []pipeline.Record{{Value: []byte("hello")}}); err != nil {
		t.Fatal(err)
	}
	for i, second := range []int{2, 3, 5} {
		publish(t, broker, 2, i, second)
	}
	f := newFollower(broker)
	if err := f.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := order(f.window), "0@1 2@2 2@3 0@5 2@5 0@6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	publish(t, broker, 1, 0, 7)
	changed := f.Changed()
	if err := f.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got, want := order(f.window), "0@1 2@2 2@3 0@5 2@5 0@6 1@7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A partition that cannot be read does not stop the others, and is read later.
func TestFollowerReadsTheOtherPartitions(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topic, 2)
	publish(t, broker, 0, 0, 1)
	publish(t, broker, 1, 0, 2)
	denied := true
	log := &pipelinetest.Between{Broker: broker, OnFetch: func(_ context.Context, _ string, partition int, _ int64) error {
		if denied && partition == 0 {
			return pipeline.Permanent(pipeline.ErrDenied)
		}
		return nil
	}}
	f := newFollower(log)
	if err := f.Look(t.Context()); !errors.Is(err, pipeline.ErrDenied) || order(f.window) != "1@2" {
		t.Fatalf("%s, %v", order(f.window), err)
	}
	denied = false
	if err := f.Look(t.Context()); err != nil || order(f.window) != "0@1 1@2" {
		t.Errorf("%s, %v", order(f.window), err)
	}
}

// An event from the future does not make its block the newest for years.
func TestFutureEventsAreNotTheNewest(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topic, 1)
	publish(t, broker, 0, 0, 10*365*24*3600)
	publish(t, broker, 0, 1, 61)
	f := newFollower(broker)
	if err := f.Look(t.Context()); err != nil || order(f.window) != "0@60 0@61" {
		t.Errorf("%s, %v", order(f.window), err)
	}
	if hours := f.Report().Hours; len(hours) != 1 || hours[0].Rows != 500 {
		t.Errorf("hours %+v", hours)
	}
}

// A forged block of rows that do not exist, of another log or from the future is counted and
// ignored: it hides no block that follows it. The log names one record of each kind.
func TestForgedBlockDoesNotHideLaterBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		forge     func(*wire.Block)
		published time.Time
		ignored   int
	}{
		"none":                  {nil, noon, 0},
		"end far away":          {func(b *wire.Block) { b.NextOffset = 1e15 }, noon, 3},
		"end one too far":       {func(b *wire.Block) { b.NextOffset = 7 }, noon, 3},
		"row of no event":       {func(b *wire.Block) { b.NextOffset, b.NextRow = 6, 1 }, noon, 3},
		"provisional":           {func(b *wire.Block) { b.NextOffset, b.Provisional = 9, true }, noon, 3},
		"another log":           {func(b *wire.Block) { b.SourceLog = "x" }, noon, 3},
		"another log, far away": {func(b *wire.Block) { b.SourceLog, b.NextOffset = "x", 1e15 }, noon, 3},
		"no log":                {func(b *wire.Block) { b.SourceLog = "" }, noon, 3},
		"published in 9999":     {func(*wire.Block) {}, noon.AddDate(7973, 0, 0), 3},
		"undecodable":           {nil, noon, 3},
	} {
		broker := pipelinetest.NewBroker()
		broker.AddTopic(topic, 1)
		broker.AddTopic("p.events", 1)
		if _, err := broker.Produce(t.Context(), "p.events", 0, make([]pipeline.Record, 6)); err != nil {
			t.Fatal(err)
		}
		send := func(rec pipeline.Record) {
			if _, err := broker.Produce(t.Context(), topic, 0, []pipeline.Record{rec}); err != nil {
				t.Fatal(err)
			}
		}
		block := func(i int) *wire.Block {
			b := blockAt(i, sums(250, 1, 1, 1))
			b.Partition, b.SourceLog = 0, string(must(broker.Identity(t.Context(), "p.events", 0, noon)))
			return b
		}
		core, logs := observer.New(zap.WarnLevel)
		f := newFollower(broker)
		f.Logger, f.Events = zap.New(core), "p.events"
		ignored := 0
		f.OnIgnored = func() { ignored++ }
		look := func() {
			if err := f.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		send(record(t, block(1), noon))
		send(record(t, block(2), noon))
		for range c.ignored {
			forged := block(3)
			if c.forge != nil {
				c.forge(forged)
			}
			rec := record(t, forged, c.published)
			if c.forge == nil {
				rec.Value = []byte("hello")
			}
			send(rec)
		}
		send(record(t, block(4), noon))
		look()
		send(record(t, block(2), noon)) // republished by a new owner
		send(record(t, block(5), noon))
		look()
		const want = "0@1 0@2 0@4 0@5"
		if got := order(f.window); got != want || ignored != c.ignored || logs.Len() != min(c.ignored, 1) {
			t.Errorf("%s: %s, want %s; %d ignored, want %d; logged %v", name, got, want, ignored, c.ignored, logs.All())
		}
	}
}

// A topic that was recreated is shorter than the part of it that was read.
func TestFollowerReadsARecreatedTopic(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topic, 1)
	for i := range 3 {
		publish(t, broker, 0, i, i)
	}
	f := newFollower(broker)
	look := func() {
		if err := f.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	broker.Recreate(topic)
	look()
	publish(t, broker, 0, 3, 3)
	look()
	if got := order(f.window); got != "0@0 0@1 0@2 0@3" {
		t.Error(got)
	}
}

// Blocks of the log before the topic of events was recreated count until the first one of the new
// log. Without the right to describe events all blocks count.
func TestBlocksOfEarlierLogs(t *testing.T) {
	for denied, want := range map[bool]string{false: "0@0 0@1 0@2 0@4", true: "0@0 0@1 0@2 0@3 0@4"} {
		broker := pipelinetest.NewBroker()
		broker.AddTopic(topic, 1)
		broker.AddTopic("p.events", 1)
		now := must(broker.Identity(t.Context(), "p.events", 0, noon))
		if _, err := broker.Produce(t.Context(), "p.events", 0, make([]pipeline.Record, 10)); err != nil {
			t.Fatal(err)
		}
		for i, log := range []string{"earlier", "earlier.1", string(now), "earlier", string(now)} {
			b := blockAt(i, sums(250, 1, 1, 1))
			b.Partition, b.SourceLog = 0, log
			if _, err := broker.Produce(t.Context(), topic, 0, []pipeline.Record{record(t, b, noon)}); err != nil {
				t.Fatal(err)
			}
		}
		if denied {
			broker.FailNext(pipeline.OpIdentity, pipeline.Permanent(pipeline.ErrDenied))
		}
		f := newFollower(broker)
		f.Events = "p.events"
		if err := f.Look(t.Context()); err != nil || order(f.window) != want {
			t.Errorf("denied %v: %s, want %s; %v", denied, order(f.window), want, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Blocks enter the window as they are read: memory does not grow with their number.
func TestFollowerHoldsFewBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 5,000 large blocks")
	}
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topic, 4)
	const blocks = atFirst / 4
	wide := sums(250, 1, 1, 1)
	for range 499 { // 20 KB
		wide.Outputs = append(wide.Outputs, wide.Outputs[0])
	}
	for i := range blocks {
		b := blockAt(i, wide)
		b.Partition = int32(i % 4)
		rec := record(t, b, noon.Add(time.Minute))
		if _, err := broker.Produce(t.Context(), topic, i%4, []pipeline.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var most uint64
	var fetches int
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	log := &pipelinetest.Between{Broker: broker, OnFetch: func(context.Context, string, int, int64) error {
		mu.Lock() // partitions are read concurrently
		defer mu.Unlock()
		fetches++
		if fetches%20 == 0 {
			most = max(most, heap())
		}
		return nil
	}}
	f := newFollower(log)
	if err := f.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held := int64(most) - int64(before); held > WindowBytes {
		t.Errorf("%d bytes held, at most %d", held, WindowBytes)
	}
	if r := f.Report(); r.Short.Rows != ShortRows || r.Hours[len(r.Hours)-1].Rows == 0 {
		t.Errorf("report %+v", r)
	}
}

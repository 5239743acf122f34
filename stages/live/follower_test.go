package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

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

package stages

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// bench is a broker in memory on which partition 0 of an exploration is taken part in.
type bench struct {
	t      *testing.T
	broker *pipelinetest.Broker
	spec   *wire.Spec
	topics TopicsConfig
	now    time.Time
}

func newBench(t *testing.T, spec *wire.Spec) *bench {
	b := &bench{t: t, broker: pipelinetest.NewBroker(), spec: spec, topics: Default().Topics, now: noon}
	for _, topic := range []string{b.topics.Events, b.topics.Scores, b.topics.DeadLetters} {
		b.broker.AddTopic(topic, 1)
	}
	return b
}

// partition is a new owner of the partition, restored.
func (b *bench) partition() *subsamplePartition {
	b.t.Helper()
	settings := Default()
	settings.Pipeline.Name = b.spec.Pipeline
	settings.Subsample.CheckpointRows, settings.Subsample.CheckpointInterval = 100, time.Minute
	r := NewRuntime(b.broker, settings, zap.NewNop())
	r.Now, r.DrainTimeout = func() time.Time { return b.now }, time.Second
	p := &subsamplePartition{SubsampleRunner: NewSubsampleRunner(r), spec: b.spec, part: b.spec.Partitions[0], logger: r.Logger,
		commit: func(context.Context, int64) error { return nil }}
	if err := p.restore(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) write(checkpoints ...*wire.Checkpoint) {
	b.t.Helper()
	for _, c := range checkpoints {
		if _, err := b.broker.Produce(b.t.Context(), b.topics.Scores, 0, []pipeline.Record{checkpointRecord(b.t, c)}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func checkpointRecord(t *testing.T, c *wire.Checkpoint) pipeline.Record {
	t.Helper()
	value, err := wire.EncodeCheckpoint(c)
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Record{Key: wire.CheckpointKey(c.Exploration, c.Pass), Value: value, Time: noon, Partition: int(c.Partition)}
}

// last is the last checkpoint on the topic and the number of records there.
func (b *bench) last() (*wire.Checkpoint, int) {
	b.t.Helper()
	records := b.broker.Records(b.topics.Scores, 0)
	c, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), records[len(records)-1].Value)
	if err != nil {
		b.t.Fatal(err)
	}
	return c, len(records)
}

// steps are the checkpoints after each of three messages of 100 rows.
func steps(t *testing.T, quota int64) (*wire.Spec, []*wire.Checkpoint, []pipeline.Record) {
	t.Helper()
	rows := events(t, taskRegression, 300, 21, faults{})
	spec := plan(t, testSettings(taskRegression), rows, fullSpan(quota))
	s := newSubsampler(t, spec, spec.Partitions[0], nil)
	batches := cut(t, rows, every(100))
	var checkpoints []*wire.Checkpoint
	var records []pipeline.Record
	for i := range int64(3) {
		addFrom(t, s, batches, i, i+1)
		checkpoints = append(checkpoints, s.Checkpoint(noon))
		records = append(records, pipeline.Record{Value: message(t, batches[i]), Offset: i})
	}
	return spec, checkpoints, records
}

// ofKernel is the checkpoint as another kernel would have made it.
func ofKernel(c *wire.Checkpoint, kernel string) *wire.Checkpoint {
	other := *c
	other.Kernel = kernel
	return &other
}

func TestPartitionDropsACheckpointOfAnotherKernel(t *testing.T) {
	spec, checkpoints, records := steps(t, 0)
	b := newBench(t, spec)
	b.write(ofKernel(checkpoints[2], "abacus"))
	p := b.partition()
	if p.saved != nil || p.NextOffset() != 0 || p.core.NextOrdinal() != 0 {
		t.Fatalf("goes on at offset %d from %v", p.NextOffset(), p.saved)
	}
	// As far as a checkpoint of the first rows, which is nothing beside the foreign one.
	if err := p.Process(t.Context(), pipeline.Fetched{Records: records[:1], NextOffset: 1}); err != nil {
		t.Fatal(err)
	}
	if c, n := b.last(); n != 2 || c.NextOrdinal != 100 || c.Kernel != spec.Kernel {
		t.Fatalf("%d checkpoints, the last of kernel %s at ordinal %d", n, c.Kernel, c.NextOrdinal)
	}
	if again := b.partition(); again.saved == nil || again.core.NextOrdinal() != 100 {
		t.Fatalf("the next owner starts at ordinal %d", again.core.NextOrdinal())
	}
}

func TestPartitionRestoresTheFurthestAndWritesItAgain(t *testing.T) {
	spec, c, _ := steps(t, 0)
	for _, test := range []struct {
		name    string
		on      []*wire.Checkpoint
		ordinal int64
		written int
	}{
		{"the last", c, 300, 3},
		{"older behind", []*wire.Checkpoint{c[1], c[0]}, 200, 3},
		{"equal behind", []*wire.Checkpoint{c[1], c[1]}, 200, 2},
		{"another kernel behind", []*wire.Checkpoint{c[0], ofKernel(c[2], "abacus")}, 100, 3},
		{"another kernel before", []*wire.Checkpoint{ofKernel(c[2], "abacus"), c[0]}, 100, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, spec)
			b.write(test.on...)
			p := b.partition()
			last, n := b.last()
			if p.core.NextOrdinal() != test.ordinal || last.NextOrdinal != test.ordinal || last.Kernel != spec.Kernel || n != test.written {
				t.Fatalf("goes on at ordinal %d; %d records, the last at %d", p.core.NextOrdinal(), n, last.NextOrdinal)
			}
		})
	}
}

func TestPartitionThatIsClosedReadsNothing(t *testing.T) {
	spec, checkpoints, _ := steps(t, 20)
	if !checkpoints[2].Closed {
		t.Fatal("not closed")
	}
	b := newBench(t, spec)
	b.write(checkpoints[2])
	next := checkpoints[2].NextOffset
	b.broker.Expire(b.topics.Events, 0, next)
	b.broker.Oversize(b.topics.Events, 0, next, next+1)
	p := b.partition()
	before := b.broker.Fetches()
	if err := p.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, n := b.last(); n != 1 || b.broker.Fetches() != before || p.core.Counts() != checkpoints[2].Counts {
		t.Fatalf("%d checkpoints, %d fetches, counts %+v", n, b.broker.Fetches()-before, p.core.Counts())
	}
	if n := len(b.broker.Records(b.topics.DeadLetters, 0)); n != 0 {
		t.Fatalf("%d dead letters", n)
	}
}

func TestPartitionWithoutOffsetsSavesThatItIsClosed(t *testing.T) {
	spec, _, _ := steps(t, 0)
	bounded := *spec
	bounded.Partitions = []wire.Partition{{StartOffset: 5, EndOffset: 5}}
	b := newBench(t, &bounded)
	if err := b.partition().run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, n := b.last(); n != 1 || !c.Closed || c.NextOffset != 5 || c.CloseReason != wire.CloseEnd {
		t.Fatalf("%d checkpoints, %+v", n, c)
	}
}

// A partition to which nothing comes looks behind its checkpoint, not more often than it would write one.
func TestPartitionThatIsIdleWritesOverOlderCheckpoints(t *testing.T) {
	spec, checkpoints, records := steps(t, 0)
	b := newBench(t, spec)
	p := b.partition()
	idle := func() (requests int) {
		t.Helper()
		before := b.broker.Fetches()
		if err := p.Process(t.Context(), pipeline.Fetched{NextOffset: p.NextOffset()}); err != nil {
			t.Fatal(err)
		}
		return b.broker.Fetches() - before
	}
	if err := p.Process(t.Context(), pipeline.Fetched{Records: records[:2], NextOffset: 2}); err != nil {
		t.Fatal(err)
	}
	b.write(checkpoints[0])
	if idle() != 0 {
		t.Fatal("looked before the interval was over")
	}
	b.now = b.now.Add(2 * time.Minute)
	idle()
	if c, n := b.last(); n != 3 || c.NextOrdinal != 200 {
		t.Fatalf("%d records, the last at ordinal %d", n, c.NextOrdinal)
	}
	if b.write(checkpoints[0]); idle() != 0 {
		t.Fatal("looked again at once")
	}
	tombstone := pipeline.Record{Key: wire.CheckpointKey(spec.Exploration, spec.Pass)}
	if _, err := b.broker.Produce(t.Context(), b.topics.Scores, 0, []pipeline.Record{tombstone}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(2 * time.Minute)
	idle()
	if c, n := b.last(); n != 6 || c.NextOrdinal != 200 {
		t.Fatalf("%d records, the last at ordinal %d", n, c.NextOrdinal)
	}
	b.write(checkpoints[2]) // an owner that has come further: as true
	for range 2 {
		b.now = b.now.Add(2 * time.Minute)
		idle()
	}
	if c, n := b.last(); n != 7 || c.NextOrdinal != 300 {
		t.Fatalf("%d records, the last at ordinal %d", n, c.NextOrdinal)
	}
	b.now = b.now.Add(2 * time.Minute)
	if idle() != 0 {
		t.Fatal("fetched where nothing new was")
	}
}

package subsample_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
)

// bench is an in-memory broker with partition 0 of an exploration.
type bench struct {
	t      *testing.T
	broker *pipelinetest.Broker
	spec   *wire.Spec
	topics topics.Config
	meter  *meter.Meter
	now    time.Time
}

func newBench(t *testing.T, spec *wire.Spec) *bench {
	b := &bench{
		t:      t,
		broker: pipelinetest.NewBroker(),
		spec:   spec,
		topics: topics.Default(),
		meter:  meter.New(),
		now:    stagestest.Noon,
	}
	for _, topic := range []string{b.topics.Events, b.topics.Scores, b.topics.Samples, b.topics.DeadLetters} {
		b.broker.AddTopic(topic, 1)
	}
	return b
}

// partition returns a new, restored owner of the partition.
func (b *bench) partition() *subsample.Partition {
	b.t.Helper()
	r := &subsample.Runner{
		Env: env.Env{
			Broker:       b.broker,
			State:        state.Still(state.Config{Pipeline: b.spec.Pipeline}, state.Snapshot{}),
			Meter:        b.meter,
			Logger:       zap.NewNop(),
			Clock:        func() time.Time { return b.now },
			Pipeline:     b.spec.Pipeline,
			Topics:       b.topics,
			DrainTimeout: time.Second,
		},
		Config: subsample.Config{CheckpointRows: 100, CheckpointInterval: time.Minute},
	}
	p, err := r.Restore(b.t.Context(), b.spec, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) write(checkpoints ...*wire.Checkpoint) {
	b.t.Helper()
	for _, c := range checkpoints {
		value, err := wire.EncodeCheckpoint(c)
		if err != nil {
			b.t.Fatal(err)
		}
		b.append(value)
	}
}

// append writes a record to scores under the exploration's key.
func (b *bench) append(value []byte) {
	b.t.Helper()
	pipelinetest.Produce(
		b.t,
		b.broker,
		b.topics.Scores,
		0,
		pipeline.Record{Key: wire.CheckpointKey(b.spec.Exploration), Value: value, Time: stagestest.Noon},
	)
}

func (b *bench) refuse(attempt int) {
	b.t.Helper()
	value, err := wire.EncodeRefusal(
		&wire.Refusal{Exploration: b.spec.Exploration, SpecHash: b.spec.Hash(), Attempt: attempt, Reason: "a test"},
	)
	if err != nil {
		b.t.Fatal(err)
	}
	b.append(value)
}

// last returns the last checkpoint on the topic and the number of records.
func (b *bench) last() (*wire.Checkpoint, int) {
	b.t.Helper()
	records := b.broker.Records(b.topics.Scores, 0)
	c, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), records[len(records)-1].Value)
	if err != nil {
		b.t.Fatal(err)
	}
	return c, len(records)
}

// steps returns the checkpoints after each of three messages of 100 rows.
func steps(t *testing.T, quota int64) (*wire.Spec, []*wire.Checkpoint, []pipeline.Record) {
	t.Helper()
	rows := eventsOf(t, stagestest.Regression, 300, 21, stagestest.Faults{})
	spec := plan(t, stagestest.Regression, rows, nil, fullSpan(quota))
	s := start(t, spec, nil)
	batches := stagestest.Cut(t, rows, stagestest.Every(100))
	var checkpoints []*wire.Checkpoint
	var records []pipeline.Record
	for i := range int64(3) {
		addFrom(t, s, batches, i, i+1)
		checkpoints = append(checkpoints, s.Checkpoint(stagestest.Noon))
		records = append(records, pipeline.Record{Value: stagestest.Message(t, batches[i]), Offset: i})
	}
	return spec, checkpoints, records
}

// changed returns a changed copy of a checkpoint.
func changed(c *wire.Checkpoint, change func(*wire.Checkpoint)) *wire.Checkpoint {
	other := *c
	change(&other)
	return &other
}

// ofKernel returns a copy of a checkpoint with another kernel.
func ofKernel(c *wire.Checkpoint, kernel string) *wire.Checkpoint {
	return changed(c, func(c *wire.Checkpoint) { c.Arithmetic = kernel })
}

func ofAttempt(c *wire.Checkpoint, attempt int) *wire.Checkpoint {
	return changed(c, func(c *wire.Checkpoint) { c.Attempt = attempt })
}

func TestPartitionDropsACheckpointOfAnotherKernel(t *testing.T) {
	spec, checkpoints, records := steps(t, 0)
	b := newBench(t, spec)
	b.write(ofKernel(checkpoints[2], "abacus"))
	p := b.partition()
	if p.Saved() != nil || p.NextOffset() != 0 || p.Core().NextOrdinal() != 0 {
		t.Fatalf("continues at offset %d from %v", p.NextOffset(), p.Saved())
	}
	// Process up to a checkpoint of the first rows, far below the other kernel's checkpoint.
	if err := p.Process(t.Context(), pipeline.Fetched{Records: records[:1], NextOffset: 1}); err != nil {
		t.Fatal(err)
	}
	if c, n := b.last(); n != 2 || c.NextOrdinal != 100 || c.Arithmetic != spec.Arithmetic {
		t.Fatalf("%d checkpoints, the last of kernel %s at ordinal %d", n, c.Arithmetic, c.NextOrdinal)
	}
	if again := b.partition(); again.Saved() == nil || again.Core().NextOrdinal() != 100 {
		t.Fatalf("the next owner starts at ordinal %d", again.Core().NextOrdinal())
	}
}

func TestPartitionRestoresTheFurthestAndWritesItAgain(t *testing.T) {
	spec, c, _ := steps(t, 0)
	elsewhere := func(c *wire.Checkpoint) { c.Partition = 4 }
	foreign := func(c *wire.Checkpoint) { c.SpecHash = "abc" }
	for _, test := range []struct {
		name    string
		on      []*wire.Checkpoint
		ordinal int64
		written int
	}{
		{"the last", c, 300, 3},
		{"older after it", []*wire.Checkpoint{c[1], c[0]}, 200, 3},
		{"equal after it", []*wire.Checkpoint{c[1], c[1]}, 200, 2},
		{"another kernel after it", []*wire.Checkpoint{c[0], ofKernel(c[2], "abacus")}, 100, 3},
		{"another kernel before", []*wire.Checkpoint{ofKernel(c[2], "abacus"), c[0]}, 100, 2},
		{"an earlier attempt after it", []*wire.Checkpoint{ofAttempt(c[0], 1), c[2]}, 100, 3},
		{"a later attempt after it", []*wire.Checkpoint{c[2], ofAttempt(c[0], 1)}, 100, 2},
		{"of another partition after it", []*wire.Checkpoint{c[0], changed(c[2], elsewhere)}, 100, 3},
		{"of another spec after it", []*wire.Checkpoint{c[0], changed(c[2], foreign)}, 100, 3},
		{"of another spec before", []*wire.Checkpoint{changed(c[2], foreign), c[0]}, 100, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, spec)
			b.write(test.on...)
			p := b.partition()
			last, n := b.last()
			if p.Core().NextOrdinal() != test.ordinal || last.NextOrdinal != test.ordinal ||
				last.Arithmetic != spec.Arithmetic ||
				n != test.written {
				t.Fatalf("continues at ordinal %d; %d records, the last at %d", p.Core().NextOrdinal(), n, last.NextOrdinal)
			}
		})
	}
}

// A repeated attempt rereads the rows of the refused one, which has sent their dead letters.
func TestRepeatedAttemptSendsNoDeadLetters(t *testing.T) {
	spec, _, _ := steps(t, 20)
	b := newBench(t, spec)
	fetched := pipeline.Fetched{NextOffset: 9, End: 9}
	for offset := range int64(9) {
		fetched.Records = append(fetched.Records, pipeline.Record{Topic: b.topics.Events, Offset: offset, Value: []byte("x")})
	}
	for attempt := range 3 {
		p := b.partition()
		if err := p.Process(t.Context(), fetched); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent, counted := len(b.broker.Records(b.topics.DeadLetters, 0)), p.Core().Counts().Undecodable
		if p.Core().Attempt() != attempt || sent != int(min(9, spec.Partitions[0].EndOffset)) || counted != int64(sent) {
			t.Errorf("attempt %d: %d dead letters sent, %d counted", p.Core().Attempt(), sent, counted)
		}
		b.refuse(attempt)
	}
}

// A fetch may hold hundreds of thousands of empty records, each of which becomes a dead letter of a
// kilobyte.
func TestPartitionDoesNotPileUpDeadLetters(t *testing.T) {
	spec, _, _ := steps(t, 20)
	b := newBench(t, spec)
	const messages = 30_000
	fetched := pipeline.Fetched{NextOffset: messages, End: messages}
	for offset := range int64(messages) {
		fetched.Records = append(fetched.Records, pipeline.Record{Topic: b.topics.Events, Offset: offset, Value: []byte{}})
	}
	p := b.partition()
	if err := p.Process(t.Context(), fetched); err != nil {
		t.Fatal(err)
	}
	sent, bytes := b.broker.Records(b.topics.DeadLetters, 0), 0
	for i := range sent {
		bytes += sent[i].Memory()
	}
	checkpoint, n := b.last()
	if n < bytes/deadletter.PendingBytes || n < 3 {
		t.Errorf("%d dead letters of %d bytes were sent with %d checkpoints", len(sent), bytes, n)
	}
	if checkpoint.Counts.Undecodable != int64(len(sent)) || checkpoint.NextOffset != int64(len(sent)) {
		t.Errorf("%d dead letters sent, but the checkpoint is at offset %d and counts %d",
			len(sent), checkpoint.NextOffset, checkpoint.Counts.Undecodable)
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
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, n := b.last(); n != 1 || b.broker.Fetches() != before || p.Core().Counts() != checkpoints[2].Counts {
		t.Fatalf("%d checkpoints, %d fetches, counts %+v", n, b.broker.Fetches()-before, p.Core().Counts())
	}
	if n := len(b.broker.Records(b.topics.DeadLetters, 0)); n != 0 {
		t.Fatalf("%d dead letters", n)
	}
}

// An idle partition checks the records after its checkpoint, at most once per checkpoint interval.
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
		t.Fatal("read scores before the interval was over")
	}
	b.now = b.now.Add(2 * time.Minute)
	idle()
	if c, n := b.last(); n != 3 || c.NextOrdinal != 200 {
		t.Fatalf("%d records, the last at ordinal %d", n, c.NextOrdinal)
	}
	if b.write(checkpoints[0]); idle() != 0 {
		t.Fatal("read scores again immediately")
	}
	b.append(nil)
	b.now = b.now.Add(2 * time.Minute)
	idle()
	if c, n := b.last(); n != 6 || c.NextOrdinal != 200 {
		t.Fatalf("%d records, the last at ordinal %d", n, c.NextOrdinal)
	}
	b.write(checkpoints[2]) // by an owner with newer rows; equally valid
	for range 2 {
		b.now = b.now.Add(2 * time.Minute)
		idle()
	}
	if c, n := b.last(); n != 7 || c.NextOrdinal != 300 {
		t.Fatalf("%d records, the last at ordinal %d", n, c.NextOrdinal)
	}
	b.now = b.now.Add(2 * time.Minute)
	if idle() != 0 {
		t.Fatal("fetched without new records")
	}
}

// A refusal found by an open partition concerns an attempt that another owner has closed. Rows read
// since are not saved.
func TestPartitionThatIsRefusedSavesNothing(t *testing.T) {
	spec, _, records := steps(t, 0)
	b := newBench(t, spec)
	p := b.partition()
	if err := p.Process(t.Context(), pipeline.Fetched{Records: records[:1], NextOffset: 1}); err != nil {
		t.Fatal(err)
	}
	b.refuse(0)
	b.now = b.now.Add(2 * time.Minute)
	err := p.Process(t.Context(), pipeline.Fetched{NextOffset: 1})
	if err == nil {
		t.Fatal("no error after the refusal")
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(b.broker.Records(b.topics.Scores, 0)); n != 2 {
		t.Fatalf("%d records of scores after %v", n, err)
	}
	again := b.partition()
	if c := again.Core().Checkpoint(b.now); c.Attempt != 1 || c.NextOffset != 0 || c.Counts.Scored != 0 ||
		c.Samples.FirstOffset != 1 {
		t.Fatalf("the next owner continues from %+v", c)
	}
}

// guarded guards the partition in the background until end is called or guarding ends by itself.
func guarded(t *testing.T, p *subsample.Partition) (end func(), ended chan error) {
	ctx, cancel := context.WithTimeout(t.Context(), stagestest.Patience)
	t.Cleanup(cancel)
	ended = make(chan error, 1)
	go func() { ended <- p.Guard(ctx) }()
	return cancel, ended
}

func TestPartitionThatIsClosedGuardsItsCheckpoint(t *testing.T) {
	spec, c, _ := steps(t, 60)
	if c[0].Closed || !c[2].Closed {
		t.Fatal("not closed by the second or third message")
	}
	for _, test := range []struct {
		name string
		do   func(b *bench)
	}{
		{"older", func(b *bench) { b.write(c[0]) }},
		{"tombstone", func(b *bench) { b.append(nil) }},
		{"noise", func(b *bench) { b.append([]byte("noise")) }},
		{"another spec", func(b *bench) { b.write(changed(c[2], func(c *wire.Checkpoint) { c.SpecHash = "abc" })) }},
		{"another kernel", func(b *bench) { b.write(ofKernel(c[2], "abacus")) }},
		{"lost its end", func(b *bench) { b.broker.LoseEnd(b.topics.Scores, 0, 0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, spec)
			b.write(c[0], c[2])
			p := b.partition()
			end, ended := guarded(t, p)
			test.do(b)
			stagestest.Until(t, "rewritten", func() bool {
				records := b.broker.Records(b.topics.Scores, 0)
				if len(records) == 0 {
					return false
				}
				last, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), records[len(records)-1].Value)
				return err == nil && last.Closed && last.SpecHash == spec.Hash() && last.Arithmetic == spec.Arithmetic
			})
			end()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		})
	}
}

// If another owner has written a newer checkpoint, work continues from it.
func TestPartitionThatIsClosedGivesWay(t *testing.T) {
	spec, c, _ := steps(t, 60)
	lost := changed(c[0], func(c *wire.Checkpoint) { c.Closed, c.CloseReason = true, wire.CloseLost })
	further := changed(c[1], func(c *wire.Checkpoint) { c.Closed, c.CloseReason = false, "" })
	for _, test := range []struct {
		name   string
		before *wire.Checkpoint
		after  *wire.Checkpoint
		want   int64 // next offset to continue from
	}{
		{"a later attempt", c[2], ofAttempt(c[0], 1), 1},
		{"after offsets that seemed to be lost", lost, further, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, spec)
			b.write(test.before)
			_, ended := guarded(t, b.partition())
			b.write(test.after)
			if err := <-ended; !errors.Is(err, subsample.ErrOvertaken) {
				t.Fatalf("ended with %v", err)
			}
			if p := b.partition(); p.NextOffset() != test.want || p.Core().Closed() {
				t.Fatalf("continues at offset %d, closed %v", p.NextOffset(), p.Core().Closed())
			}
		})
	}
}

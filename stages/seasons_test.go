package stages_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// explorer is the stages of explorations in one process with a stopped clock: nothing waits for time to pass.
type explorer struct {
	*stages.Process
	t      *testing.T
	ctx    context.Context
	client *kafka.Client
}

// newExplorer makes the topics of a pipeline without starting the stages.
func newExplorer(t *testing.T, client *kafka.Client, partitions int, edit func(*stages.Settings)) *explorer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	s := stages.Default()
	s.Pipeline.Name = fmt.Sprintf("e%08x", rand.Uint32())
	for _, name := range []*string{&s.Topics.Events, &s.Topics.Explorations, &s.Topics.Scores, &s.Topics.Samples,
		&s.Topics.FeatureSets, &s.Topics.Features, &s.Topics.Models, &s.Topics.DeadLetters} {
		*name = s.Pipeline.Name + "-" + *name
	}
	s.Topics.Partitions = partitions
	s.Events.Label, s.Events.Passthrough = []string{"y"}, []string{"id"}
	s.Exploration.Candidates, s.Exploration.Features = 1000, 64
	edit(&s)
	if _, err := topics.Create(ctx, client, s.Topics); err != nil {
		t.Fatal(err)
	}
	e := &explorer{Process: stages.NewProcess(client, s, stagestest.Logger(t)), t: t, ctx: ctx, client: client}
	e.Now = func() time.Time { return stagestest.Noon }
	return e
}

// start runs calibrate, subsample and select until the test ends.
func (e *explorer) start() {
	ctx, stop := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx, meter.StageCalibrate, meter.StageSubsample, meter.StageSelect) }()
	e.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			e.t.Error(err)
		}
	})
}

// await waits for what the control topics say.
func (e *explorer) await(what string, ok func(state.Snapshot) bool) state.Snapshot {
	e.t.Helper()
	now, err := e.State.Wait(e.ctx, ok)
	if err != nil {
		e.t.Fatalf("%s: %v; current %+v, newest %+v", what, err, now.Current, now.Spec)
	}
	return now
}

// set waits for the feature set of a sequence number.
func (e *explorer) set(sequence int64) *wire.FeatureSet {
	e.t.Helper()
	return e.await("feature set", func(s state.Snapshot) bool {
		return s.Current != nil && s.Current.Sequence == sequence && s.CurrentSet() != nil
	}).CurrentSet().Set
}

// produce sends messages to partitions in turn.
func (e *explorer) produce(partitions int, values ...[]byte) {
	e.t.Helper()
	for i, value := range values {
		if _, err := e.client.Produce(e.ctx, e.Settings.Topics.Events, i%partitions, []pipeline.Record{{Value: value}}); err != nil {
			e.t.Fatal(err)
		}
	}
}

// season generates messages of 100 rows with six numbers, on two of which y depends.
func season(t *testing.T, seed uint64, messages, first int) [][]byte {
	t.Helper()
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}
	for j := range 6 {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", j), Type: arrow.PrimitiveTypes.Float64})
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var values [][]byte
	for n := range messages {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
		for i := range 100 {
			var x [6]float64
			for j := range x {
				x[j] = rng.NormFloat64()
				b.Field(2 + j).(*array.Float64Builder).Append(x[j])
			}
			b.Field(0).(*array.Int64Builder).Append(int64(100*n + i))
			b.Field(1).(*array.Float64Builder).Append(math.Cos(x[first]-1.5*x[first+1]) + 0.1*rng.NormFloat64())
		}
		rec := b.NewRecord()
		values = append(values, stagestest.Message(t, rec))
		rec.Release()
		b.Release()
	}
	return values
}

// unexplained is the share of held-out variance that a ridge model on the features of a set leaves unexplained, in percent.
func unexplained(t *testing.T, set *wire.FeatureSet, values [][]byte) float64 {
	t.Helper()
	settings := stages.Default()
	core := featurize.New(set, settings.Limits.Decoder(), settings.Featurize.MaxOutputBytes)
	trainer, err := train.New(set, settings.Train, settings.Limits.Decoder(), 1)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for offset, value := range values {
		err := core.Process(pipeline.Record{Topic: "events", Offset: int64(offset), Value: value}, 0, stagestest.Noon, func(part featurize.Part) error {
			if part.Output == nil { // the message itself
				return nil
			}
			out := *part.Output
			out.Offset, at = at, at+1
			return trainer.Partition(0).Add(out)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	model, err := trainer.Solve(t.Context(), "seasons", stagestest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	return *model.Metrics.UnexplainedVariance
}

// When the target changes, an exploration of recent rows finds features for the new season. Without new rows, it says so and
// explores nothing.
func TestExploringAgainFollowsTheSeason(t *testing.T) {
	const rows = 3000
	e := newExplorer(t, stagestest.NewBroker(t).Dial(nil), 2, func(s *stages.Settings) {
		s.Exploration.Criterion = scoring.Residual
		s.Exploration.Window, s.Exploration.MinRows = rows, rows
	})
	e.produce(2, season(t, 1, rows/100, 0)...)
	e.start()
	spring := e.set(1)

	e.produce(2, season(t, 2, rows/100, 4)...)
	request := func(id string) {
		if err := e.State.SendRequest(e.ctx, wire.Request{Action: wire.ActionStart, ID: id, Time: stagestest.Noon}); err != nil {
			t.Fatal(err)
		}
	}
	request("autumn")
	autumn := e.set(2)
	for i, set := range []*wire.FeatureSet{spring, autumn} {
		for _, part := range set.Lineage.Partitions {
			if want := int64(i * rows / 200); part.StartOffset != want || part.EndOffset != want+rows/200 || set.Lineage.Rows != rows {
				t.Errorf("set %d is of %d rows, %+v", i+1, set.Lineage.Rows, part)
			}
		}
	}
	if spring.ID() == autumn.ID() {
		t.Error("both seasons gave one set")
	}
	fresh := season(t, 3, 40, 4)
	before, after := unexplained(t, spring, fresh), unexplained(t, autumn, fresh)
	t.Logf("of rows of the new season the old set leaves %.1f %% unexplained, the new one %.1f %%", before, after)
	if after > before/2 {
		t.Errorf("of rows of the new season the new set leaves %.1f %% unexplained, the old one %.1f %%", after, before)
	}

	request("again")
	e.await("the request is answered", func(s state.Snapshot) bool { return len(s.Requests) == 0 })
	if now := e.State.Snapshot(); now.Sequence() != 2 || now.Running() != nil {
		t.Errorf("an exploration of the same rows: %+v", now.Spec)
	}
}

// Of a hundred partitions ninety-seven are idle, because nobody writes with their keys yet. Nothing waits for them. Under
// scripts/kafka.sh run this is tested on Apache Kafka.
func TestIdlePartitionsHoldNothingUp(t *testing.T) {
	const partitions, messages = 100, 30
	client := dialAny(t)
	e := newExplorer(t, client, partitions, func(s *stages.Settings) { s.Exploration.Criterion = scoring.Residual })
	e.produce(3, season(t, 1, messages, 0)...)
	began := time.Now()
	e.start()
	e.await("a plan", func(s state.Snapshot) bool { return s.Running() != nil || s.Current != nil })
	planned := time.Since(began)
	set := e.set(1)
	t.Logf("planned %.2f s after the process started, published after %.2f s", planned.Seconds(), time.Since(began).Seconds())
	if set.Lineage.Rows != 100*messages || len(set.Lineage.Partitions) != partitions {
		t.Errorf("%d rows of %d partitions", set.Lineage.Rows, len(set.Lineage.Partitions))
	}
}

// dialAny makes a client of the Apache Kafka that scripts/kafka.sh started, or of an embedded broker.
func dialAny(t *testing.T) *kafka.Client {
	cluster := kafkatest.Find()
	if cluster == nil || cluster.Secured() {
		return stagestest.NewBroker(t).Dial(nil)
	}
	c := kafka.DefaultConfig()
	c.Brokers = cluster.Addrs
	client, err := kafka.New(c, stagestest.Logger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// With this many candidates, features and classes, residual needed messages beyond brokers' limits when its rounds went over
// topics. Under scripts/kafka.sh run this is tested on Apache Kafka, with real limits.
func TestManyFeaturesOfManyClasses(t *testing.T) {
	if kafkatest.Find() == nil {
		t.Skip("no Apache Kafka: run under scripts/kafka.sh run")
	}
	const partitions, messages, classes, candidates, features = 3, 100, 26, 20_000, 1000
	e := newExplorer(t, dialAny(t), partitions, func(s *stages.Settings) {
		s.Exploration.Criterion = scoring.Residual
		s.Exploration.Candidates, s.Exploration.Features = candidates, features
	})
	e.produce(partitions, letters(t, messages, classes)...)
	began := time.Now()
	e.start()
	set := e.set(1)
	t.Logf("published %.1f s after the process started", time.Since(began).Seconds())
	if set.Set.Features.Len() != features || set.Candidates.Count != candidates || set.Encoder.Outputs() != classes || set.Lineage.Rows != 100*messages {
		t.Errorf("%d of %d features for %d outputs from %d rows", set.Set.Features.Len(), set.Candidates.Count, set.Encoder.Outputs(), set.Lineage.Rows)
	}
}

// letters generates messages of 100 rows with four numbers, on which the class depends.
func letters(t *testing.T, messages, classes int) [][]byte {
	t.Helper()
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "y", Type: arrow.BinaryTypes.String}}
	for j := range 4 {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", j), Type: arrow.PrimitiveTypes.Float64})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var values [][]byte
	for n := range messages {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
		for i := range 100 {
			var x [4]float64
			for j := range x {
				x[j] = rng.Float64()
				b.Field(2 + j).(*array.Float64Builder).Append(x[j])
			}
			b.Field(0).(*array.Int64Builder).Append(int64(100*n + i))
			class := int(float64(classes) * math.Mod(x[0]+x[1]*x[2], 1))
			b.Field(1).(*array.StringBuilder).Append(string(rune('a' + class)))
		}
		rec := b.NewRecord()
		values = append(values, stagestest.Message(t, rec))
		rec.Release()
		b.Release()
	}
	return values
}

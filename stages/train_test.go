package stages

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/training"
)

// trainConfig is the default with a small minimum of rows.
func trainConfig() TrainConfig {
	c := testSettings(taskRegression).Train
	c.MinRows = 50
	return c
}

// featureMessages are the messages of partition 2 of features that a featurizer makes of the events, as they stand in
// the log.
func featureMessages(t testing.TB, set *wire.FeatureSet, batches []arrow.Record, maxOutputBytes int64) []pipeline.Record {
	t.Helper()
	f := NewFeaturizer(set, arrowio.DefaultLimits(), maxOutputBytes)
	var out []pipeline.Record
	for offset, batch := range batches {
		for _, r := range process(t, f, eventMessage(t, int64(offset), batch), 0).Outputs {
			r.Topic, r.Partition, r.Offset = "features", 2, int64(len(out))
			out = append(out, r)
		}
	}
	return out
}

// train gives the messages to partition 2 of a trainer of three.
func train(t testing.TB, set *wire.FeatureSet, config TrainConfig, messages []pipeline.Record) *Trainer {
	t.Helper()
	trainer, err := NewTrainer(set, config, arrowio.DefaultLimits(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range messages {
		if err := trainer.Partition(2).Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return trainer
}

func solve(t testing.TB, trainer *Trainer) *wire.Model {
	t.Helper()
	model, err := trainer.Solve(t.Context(), "test", noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Validate(); err != nil {
		t.Fatal(err)
	}
	return model
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// With few held-out rows lambda is chosen by generalised cross-validation, and the path says so.
func TestTrainerReportsGeneralisedCrossValidation(t *testing.T) {
	events := events(t, taskRegression, 400, 51, faults{})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	config := trainConfig()
	config.HeldOutFraction = 0.02
	model := solve(t, train(t, set, config, featureMessages(t, set, []arrow.Record{events}, 1<<20)))
	if model.Metrics.LambdaRule != string(training.RuleGCV) || len(model.Metrics.LambdaPath) == 0 {
		t.Fatalf("%d held out: rule %s", model.HeldOutRows, model.Metrics.LambdaRule)
	}
	best := model.Metrics.LambdaPath[0]
	for _, point := range model.Metrics.LambdaPath {
		if point.GCV == nil || point.HeldOutLoss != nil {
			t.Fatalf("point %+v", point)
		}
		if *point.GCV < *best.GCV {
			best = point
		}
	}
	if best.Lambda != model.Model.Lambda {
		t.Fatalf("lambda %v, the best of the path is %v", model.Model.Lambda, best.Lambda)
	}
	value, err := wire.EncodeModel(model)
	if err != nil {
		t.Fatal(err)
	}
	back, err := wire.DecodeModel(arrowio.NewDecoder(arrowio.DefaultLimits()), value)
	if err != nil || *back.Metrics.LambdaPath[0].GCV != *model.Metrics.LambdaPath[0].GCV {
		t.Fatalf("the scores are lost on the wire: %v", err)
	}
}

// Whatever two owners of a partition write, each row counts once: the model is that of the rows alone.
func TestTrainerDropsDuplicates(t *testing.T) {
	events := events(t, taskRegression, 500, 52, faults{badFeature: 0.1, noLabel: 0.1})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	batches := cut(t, events, every(60))
	config := trainConfig()
	whole := featureMessages(t, set, batches, 1<<20)
	want := solve(t, train(t, set, config, whole))
	parts := [][]pipeline.Record{whole, featureMessages(t, set, batches, 2500), featureMessages(t, set, batches, 4000)}
	if len(parts[1]) <= len(whole) || len(parts[2]) <= len(whole) || len(parts[1]) == len(parts[2]) {
		t.Fatalf("cut into %d, %d and %d messages", len(whole), len(parts[1]), len(parts[2]))
	}
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		// Several owners write the same rows, each in its own cutting and in order, and none goes on beyond a row that is
		// not out yet: an owner starts from what the output holds.
		owners := 1 + rng.IntN(3)
		at := make([]int, owners)
		written := int64(0) // messages of the first cutting's rows that are out, in rows
		trainer := train(t, set, config, nil)
		for at[0] < len(parts[0]) {
			o := rng.IntN(owners)
			if at[o] == len(parts[o]) {
				continue
			}
			r := parts[o][at[o]]
			part := readOutput(t, r, 10).part
			first := part.SourceOffset*60 + int64(part.FirstRow)
			if first > written {
				continue // a gap that no owner leaves
			}
			written = max(written, first+int64(part.RowCount))
			at[o]++
			if rng.IntN(10) == 0 {
				at[o] = rng.IntN(at[o]) // restarted from further back
			}
			if err := trainer.Partition(2).Add(r); err != nil {
				rt.Fatal(err)
			}
		}
		// The rows that the others wrote beyond are there already or come last.
		got := solve(t, trainer)
		if got.ID != want.ID || got.TrainRows != want.TrainRows || !slices.Equal(got.Ranges, want.Ranges) {
			rt.Fatalf("model %s of %d rows %+v, want %s of %d rows %+v", got.ID, got.TrainRows, got.Ranges, want.ID, want.TrainRows, want.Ranges)
		}
	})
}

func TestTrainerCountsDuplicates(t *testing.T) {
	events := events(t, taskRegression, 120, 53, faults{noLabel: 0.2})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	batches := cut(t, events, every(60))
	whole, parts := featureMessages(t, set, batches, 1<<20), featureMessages(t, set, batches, 2500)
	labelled := int64(len(trainingRows(t, set, trainConfig(), whole)))
	trainer := train(t, set, trainConfig(), slices.Concat(parts[:1], whole, parts[1:], whole[:1]))
	first := readOutput(t, parts[0], 10).part.RowCount
	c := trainer.Counts()
	if c.Rows != labelled || c.Unlabelled != 120-labelled || c.Duplicate != int64(first)+(120-int64(first))+60 || c.Messages != int64(len(parts)+3) {
		t.Fatalf("counts %+v: %d rows, %d of them labelled, %d in the first part", c, 120, labelled, first)
	}
}

// Messages of other sets neither count nor move the place up to which rows have come.
func TestTrainerPassesOverOtherSets(t *testing.T) {
	events := events(t, taskRegression, 300, 54, faults{})
	s := testSettings(taskRegression)
	set := explore(t, s, []arrow.Record{events}).Set
	s.Exploration.Seed = 99
	other := explore(t, s, []arrow.Record{events}).Set
	batches := cut(t, events, every(60))
	mine, theirs := featureMessages(t, set, batches, 1<<20), featureMessages(t, other, batches, 1<<20)
	want := solve(t, train(t, set, trainConfig(), mine))
	trainer := train(t, set, trainConfig(), slices.Concat(theirs, mine, theirs))
	got := solve(t, trainer)
	if got.ID != want.ID || trainer.Counts().OtherSet != int64(2*len(theirs)) || trainer.Counts().Undecodable != 0 {
		t.Fatalf("model %s, counts %+v; want %s", got.ID, trainer.Counts(), want.ID)
	}
	if got.FeatureSetID != set.ID() || trainer.FeatureSetID() != set.ID() {
		t.Fatalf("model of set %s", got.FeatureSetID)
	}
}

func TestTrainerWaitsForItsMinimumOfRows(t *testing.T) {
	events := events(t, taskRegression, 120, 55, faults{})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	messages := featureMessages(t, set, cut(t, events, every(60)), 1<<20)
	config := trainConfig()
	config.MinRows = 120
	trainer := train(t, set, config, messages[:1])
	if _, err := trainer.Solve(t.Context(), "test", noon); !errors.Is(err, ErrTooFewRows) {
		t.Fatalf("60 rows of 120: error %v", err)
	}
	if err := trainer.Partition(2).Add(messages[1]); err != nil {
		t.Fatal(err)
	}
	first := solve(t, trainer)
	if again := solve(t, trainer); again.ID != first.ID {
		t.Fatal("solving disturbed the sums")
	}
	config.MinRows = 0
	if _, err := train(t, set, config, nil).Solve(t.Context(), "test", noon); !errors.Is(err, ErrTooFewRows) {
		t.Fatalf("a model of no rows: error %v", err)
	}
}

func TestTrainerMergesPartitions(t *testing.T) {
	events := events(t, taskBinary, 400, 56, faults{})
	set := explore(t, testSettings(taskBinary), []arrow.Record{events}).Set
	messages := featureMessages(t, set, cut(t, events, every(50)), 1<<20)
	trainer := train(t, set, trainConfig(), messages[:4])
	for i, r := range messages[4:] { // the rest comes from partition 0
		part := readOutput(t, r, 10).part
		part.SourcePartition, part.SourceOffset = 0, int64(10+i)
		r.Headers = withHeaders(nil, part.Headers())
		if err := trainer.Partition(0).Add(r); err != nil {
			t.Fatal(err)
		}
	}
	model := solve(t, trainer)
	want := []wire.Range{
		{Partition: 0, FirstOffset: 10, NextOffset: 14, Rows: 200},
		{Partition: 2, FirstOffset: 0, NextOffset: 4, Rows: 200},
	}
	if !slices.Equal(model.Ranges, want) || model.TrainRows != 400 || trainer.Rows() != 400 {
		t.Fatalf("%d rows of %+v, want %+v", model.TrainRows, model.Ranges, want)
	}
}

// A message that cannot be used is counted, named, and leaves the sums alone.
func TestTrainerRefusesMessages(t *testing.T) {
	events := events(t, taskRegression, 200, 57, faults{})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	good := featureMessages(t, set, cut(t, events, every(100)), 1<<20)
	want := solve(t, train(t, set, trainConfig(), good))
	part := readOutput(t, good[0], 10).part
	withPart := func(change func(*wire.FeatureBatch)) pipeline.Record {
		r, changed := good[0], part
		change(&changed)
		r.Headers = withHeaders(nil, changed.Headers())
		return r
	}
	unlabelled := wire.SelectColumns(decode(t, good[0].Value)[0], []string{"id", "row"})
	defer unlabelled.Release()
	bodiless, cutShort, twice, bare := good[0], good[0], good[0], good[0]
	bodiless.Value = nil
	cutShort.Value = cutShort.Value[:200]
	body := decode(t, good[0].Value)[0]
	twice.Value = message(t, body, body)
	bare.Value = message(t, unlabelled)
	for name, r := range map[string]pipeline.Record{
		"no headers":                   {Value: good[0].Value},
		"no body":                      bodiless,
		"a body cut short":             cutShort,
		"two record batches":           twice,
		"no features":                  bare,
		"another partition":            withPart(func(p *wire.FeatureBatch) { p.SourcePartition = 1 }),
		"rows outside the header span": withPart(func(p *wire.FeatureBatch) { p.RowCount = 20 }),
	} {
		t.Run(name, func(t *testing.T) {
			trainer := train(t, set, trainConfig(), nil)
			if err := trainer.Partition(2).Add(r); err == nil {
				t.Fatal("it was taken")
			}
			for _, r := range good {
				if err := trainer.Partition(2).Add(r); err != nil {
					t.Fatal(err)
				}
			}
			if c := trainer.Counts(); c.Undecodable != 1 || c.Rows != 200 || c.Messages != 3 {
				t.Fatalf("counts %+v", c)
			}
			if got := solve(t, trainer); got.ID != want.ID {
				t.Fatal("it left traces in the model")
			}
		})
	}
}

func TestNewTrainerRefusesSetsWithoutLabelAndFaultyGrids(t *testing.T) {
	events := events(t, taskRegression, 100, 58, faults{})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	config := trainConfig()
	config.LambdaGrid = "1,-1"
	if _, err := NewTrainer(set, config, arrowio.DefaultLimits(), 1); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("a negative lambda: error %v", err)
	}
	blind := *set
	encoder := *set.Encoder
	encoder.Label = nil
	blind.Encoder = &encoder
	if _, err := NewTrainer(&blind, trainConfig(), arrowio.DefaultLimits(), 1); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("no label: error %v", err)
	}
}

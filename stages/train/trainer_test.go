package train

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// With few held-out rows lambda is chosen by generalised cross-validation, and the path says so.
func TestTrainerReportsGeneralisedCrossValidation(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 400, 51, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, rows)
	config := trainConfig()
	config.HeldOutFraction = 0.02
	model := solve(t, train(t, set, config, featureMessages(t, set, []arrow.Record{rows}, whole)))
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
	rows := stagestest.Events(t, stagestest.Regression, 500, 52, stagestest.Faults{BadFeature: 0.1, NoLabel: 0.1})
	set := featureSet(t, stagestest.Regression, rows)
	batches := stagestest.Cut(t, rows, stagestest.Every(60))
	config := trainConfig()
	uncut := featureMessages(t, set, batches, whole)
	want := solve(t, train(t, set, config, uncut))
	parts := [][]pipeline.Record{uncut, featureMessages(t, set, batches, 24), featureMessages(t, set, batches, 38)}
	if len(parts[1]) <= len(uncut) || len(parts[2]) <= len(uncut) || len(parts[1]) == len(parts[2]) {
		t.Fatalf("cut into %d, %d and %d messages", len(uncut), len(parts[1]), len(parts[2]))
	}
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		// Several owners write the same rows, each cut in its own way and in order. None goes beyond a row that is not
		// written yet, because an owner starts from the output.
		owners := 1 + rng.IntN(3)
		at := make([]int, owners)
		written := int64(0) // rows of the first cutting that are written
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
				continue // no owner leaves a gap
			}
			written = max(written, first+int64(part.RowCount))
			at[o]++
			if rng.IntN(10) == 0 {
				at[o] = rng.IntN(at[o]) // restarts from further back
			}
			if err := trainer.Partition(2).Add(r); err != nil {
				rt.Fatal(err)
			}
		}
		// Rows that the others wrote beyond are there already or come last.
		got := solve(t, trainer)
		if got.ID != want.ID || got.TrainRows != want.TrainRows || !slices.Equal(got.Ranges, want.Ranges) {
			rt.Fatalf("model %s of %d rows %+v, want %s of %d rows %+v", got.ID, got.TrainRows, got.Ranges, want.ID, want.TrainRows, want.Ranges)
		}
	})
}

func TestTrainerWaitsForItsMinimumOfRows(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 120, 55, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, rows)
	messages := featureMessages(t, set, stagestest.Cut(t, rows, stagestest.Every(60)), whole)
	config := trainConfig()
	config.MinRows = 120
	trainer := train(t, set, config, messages[:1])
	if _, err := trainer.Solve(t.Context(), "test", stagestest.Noon); !errors.Is(err, ErrTooFewRows) {
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
	if _, err := train(t, set, config, nil).Solve(t.Context(), "test", stagestest.Noon); !errors.Is(err, ErrTooFewRows) {
		t.Fatalf("a model of no rows: error %v", err)
	}
}

func TestTrainerMergesPartitions(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Binary, 400, 56, stagestest.Faults{})
	set := featureSet(t, stagestest.Binary, rows)
	messages := featureMessages(t, set, stagestest.Cut(t, rows, stagestest.Every(50)), whole)
	trainer := train(t, set, trainConfig(), messages[:4])
	for i, r := range messages[4:] { // partition 0 provides the rest
		part := readOutput(t, r, 10).part
		part.SourcePartition, part.SourceOffset = 0, int64(10+i)
		r.Headers = events.WithHeaders(nil, part.Headers())
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

// An unusable message is counted, named, and leaves the sums unchanged.
func TestTrainerRefusesMessages(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 200, 57, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, rows)
	good := featureMessages(t, set, stagestest.Cut(t, rows, stagestest.Every(100)), whole)
	want := solve(t, train(t, set, trainConfig(), good))
	part := readOutput(t, good[0], 10).part
	withPart := func(change func(*wire.FeatureBatch)) pipeline.Record {
		r, changed := good[0], part
		change(&changed)
		r.Headers = events.WithHeaders(nil, changed.Headers())
		return r
	}
	unlabelled := wire.SelectColumns(stagestest.Decode(t, good[0].Value)[0], []string{"id", "row"})
	defer unlabelled.Release()
	bodiless, cutShort, twice, bare := good[0], good[0], good[0], good[0]
	bodiless.Value = nil
	cutShort.Value = cutShort.Value[:200]
	body := stagestest.Decode(t, good[0].Value)[0]
	twice.Value = stagestest.Message(t, body, body)
	bare.Value = stagestest.Message(t, unlabelled)
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

func TestNewRefusesSetsWithoutLabelAndFaultyGrids(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 100, 58, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, rows)
	config := trainConfig()
	config.LambdaGrid = "1,-1"
	if _, err := New(set, config, arrowio.DefaultLimits(), 1); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("a negative lambda: error %v", err)
	}
	blind := *set
	encoder := *set.Encoder
	encoder.Label = nil
	blind.Encoder = &encoder
	if _, err := New(&blind, trainConfig(), arrowio.DefaultLimits(), 1); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("no label: error %v", err)
	}
}

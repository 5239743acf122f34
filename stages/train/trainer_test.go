package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Each row counts once, regardless of repetitions by two owners of a partition.
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
		// Several owners write the same rows in order, each cut differently. None skips an
		// unwritten row, because an owner starts from the output.
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
		// Rows that others wrote further on are already there or come last.
		got := solve(t, trainer)
		if got.ID != want.ID || got.TrainRows != want.TrainRows || !slices.Equal(got.Ranges, want.Ranges) {
			rt.Fatalf("model %s of %d rows %+v, want %s of %d rows %+v", got.ID, got.TrainRows, got.Ranges, want.ID,
				want.TrainRows, want.Ranges)
		}
	})
}

// Two labels that are valid alone, but have no difference in float32, do not end training.
func TestLabelsThatOverflowTogether(t *testing.T) {
	small := func(_ int, y float64) float64 { return y / 1000 } // with a gain above 1
	scored := stagestest.Events(t, stagestest.Regression, 400, 41, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, relabelled(t, scored, small))
	gain := LabelCoding(set).Gain[0]
	rows := relabelled(t, stagestest.Events(t, stagestest.Regression, 400, 42, stagestest.Faults{}), small)
	with := func(third, seventh float64) *Trainer {
		changed := relabelled(t, rows, func(row int, y float64) float64 {
			switch row {
			case 3:
				return third
			case 7:
				return seventh
			}
			return y
		})
		return train(t, set, trainConfig(), featureMessages(t, set, []arrow.Record{changed}, whole))
	}
	trainer := with(math.MaxFloat32*0.9/gain, -math.MaxFloat32*0.9/gain)
	if counts := trainer.Counts(); counts.Rejected != 2 || counts.Rows != 398 {
		t.Errorf("%+v", counts)
	}
	model, want := solve(t, trainer), solve(t, with(math.NaN(), math.NaN()))
	got, without := *model.Metrics.UnexplainedVariance, *want.Metrics.UnexplainedVariance
	if model.TrainRows != 398 || got != without {
		t.Errorf("%d rows, %v %% unexplained, %v %% without the two", model.TrainRows, got, without)
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
		r.Headers = slices.Concat(nil, changed.Headers())
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

// Held-out rows of a class that the set does not know are errors of the model, and teach nothing.
func TestRowsOfUnseenClassesAreErrors(t *testing.T) {
	set := featureSet(t, stagestest.Binary, stagestest.Events(t, stagestest.Binary, 600, 44, stagestest.Faults{}))
	all := stagestest.Events(t, stagestest.Binary, 1000, 45, stagestest.Faults{UnseenClass: 0.3})
	trainer := train(t, set, logisticConfig(), featureMessages(t, set, []arrow.Record{all}, whole))
	counts := trainer.Counts()
	if counts.UnseenClass < 250 || counts.UnseenClass > 350 || counts.Rows+counts.UnseenClass != 1000 {
		t.Fatalf("%+v", counts)
	}
	model := solve(t, trainer)
	unknown := model.Metrics.UnknownClassRows
	if model.TrainRows != counts.Rows || unknown < 30 || unknown > 90 {
		t.Errorf("%d rows to train on, %d unknown ones judge", model.TrainRows, unknown)
	}
	share := 100 * float64(unknown) / float64(model.Metrics.MeasuredRows)
	if *model.Metrics.Misclassification < share || *model.Metrics.LogLoss >= *model.Metrics.ConstantLogLoss {
		t.Errorf("%.1f %% wrong, %.1f %% of unknown classes, log loss %.3f", *model.Metrics.Misclassification, share,
			*model.Metrics.LogLoss)
	}
	if classes := trainer.UnseenClasses(); len(classes) == 0 || classes[0].Rows != counts.UnseenClass {
		t.Errorf("%v", classes)
	}
}

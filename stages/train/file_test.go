package train

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

// fileModel fits a model to the batches of a file.
func fileModel(
	t testing.TB,
	set *wire.FeatureSet,
	config Config,
	name string,
	batches []arrow.Record,
) (*wire.Model, RowCounts) {
	t.Helper()
	trainer, err := NewFile(set, config, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range batches {
		if err := trainer.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	return solve(t, trainer.trainer), trainer.Counts()
}

// The model of a file, however cut into batches, has the same bits as the model of a topic with the
// rows as events.
func TestFileAndTopicGiveTheSameModel(t *testing.T) {
	for _, task := range stagestest.Tasks {
		for _, config := range []Config{trainConfig(), logisticConfig()} {
			if task == stagestest.Regression && config.Loss == training.LossLogistic {
				continue
			}
			t.Run(task+", "+config.Loss, func(t *testing.T) {
				rows := stagestest.Events(t, task, 900, 61, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
				set := featureSet(t, task, rows)
				topic, err := New(set, config, arrowio.DefaultLimits(), 1)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range featuresOf(t, set, 0, 0, stagestest.Cut(t, rows, stagestest.Every(1)), whole) {
					if err := topic.Partition(0).Add(r); err != nil {
						t.Fatal(err)
					}
				}
				want := solve(t, topic)
				for _, size := range []int{1, 250, 4096} {
					model, counts := fileModel(t, set, config, "rows.csv", stagestest.Cut(t, rows, stagestest.Every(size)))
					if model.ID != want.ID || !reflect.DeepEqual(model.Metrics, want.Metrics) ||
						model.HeldOutRows != want.HeldOutRows {
						t.Errorf("batches of %d: model %s with %+v, of the topic %s with %+v", size, model.ID, model.Metrics, want.ID,
							want.Metrics)
					}
					if counts.Rows != 900 || counts.Trained != want.TrainRows ||
						counts.Trained+counts.Unlabelled+counts.Rejected != 900 || counts.Rejected == 0 {
						t.Errorf("batches of %d: %+v, %d training rows", size, counts, want.TrainRows)
					}
					if r := model.Ranges; len(r) != 1 || r[0].NextOffset != 900 || r[0].Rows != counts.Trained {
						t.Errorf("ranges %+v", r)
					}
				}
			})
		}
	}
}

// learnedFile returns a set with frequencies learned from a share of the rows of a file, and these
// rows.
func learnedFile(t *testing.T, share float64) (*wire.FeatureSet, arrow.Record) {
	t.Helper()
	rows := stagestest.Events(t, stagestest.Binary, 3000, 62, stagestest.Faults{NoLabel: 0.05})
	c := explored.Exploration()
	c.Criterion, c.RefineSteps = scoring.Adaptive, 2
	if err := c.SampleRate.UnmarshalText([]byte(fmt.Sprint(share))); err != nil {
		t.Fatal(err)
	}
	set := explored.FeatureSet(t, explored.Events(stagestest.Binary), c, rows)
	if !set.Lineage.Learned() {
		t.Fatal("nothing was learned")
	}
	return set, rows
}

// For a file the rows that taught the frequencies are known. Others are held out if there are
// enough.
func TestHeldOutRowsOfAFileDidNotTeachTheSet(t *testing.T) {
	for _, c := range []struct {
		share float64
		seen  bool
	}{{0.5, false}, {0.9, true}, {1, true}} {
		set, rows := learnedFile(t, c.share)
		config := trainConfig()
		model, counts := fileModel(t, set, config, set.Lineage.EventsTopic, []arrow.Record{rows})
		ids := rowid.NewHasher(set.Lineage.Identity).Identities(rows, nil, nil)
		var unseen, seen int64
		batch := stagestest.Cut(t, rows, stagestest.Every(1))
		for i, row := range batch {
			if row.Column(row.Schema().FieldIndices("y")[0]).IsNull(0) ||
				!training.HeldOut(config.HeldOutSeed, ids[i], config.HeldOutFraction) {
				continue
			}
			if stagestest.Sampled(set.Lineage.SampleSeed, 0, int64(i), c.share) {
				seen++
			} else {
				unseen++
			}
		}
		span := wire.Span{NextOffset: 3000, SampleRate: c.share, SampleSeed: set.Lineage.SampleSeed}
		switch {
		case c.seen:
			want := &wire.SeenRows{InRanges: seen, Share: float64(seen) / float64(seen+unseen)}
			if model.HeldOutRows != seen+unseen || !reflect.DeepEqual(model.Metrics.Seen, want) || model.NotHeldOut != nil {
				t.Errorf("share %v: %d held out, seen %+v, not held out %v; want %d, %+v", c.share, model.HeldOutRows,
					model.Metrics.Seen, model.NotHeldOut, seen+unseen, want)
			}
		case model.HeldOutRows != unseen || model.Metrics.Seen != nil || len(model.NotHeldOut) != 1 ||
			model.NotHeldOut[0] != span:
			t.Errorf("share %v: %d held out, seen %+v, not held out %+v; want %d, %+v", c.share, model.HeldOutRows,
				model.Metrics.Seen, model.NotHeldOut, unseen, span)
		}
		if counts.Trained != model.TrainRows {
			t.Errorf("%+v, %d training rows", counts, model.TrainRows)
		}
	}
	set, rows := learnedFile(t, 0.9)
	if model, _ := fileModel(t, set, trainConfig(), "other.csv", []arrow.Record{rows}); model.Metrics.Seen != nil ||
		model.NotHeldOut != nil {
		t.Errorf("of another file: seen %+v, not held out %+v", model.Metrics.Seen, model.NotHeldOut)
	}
}

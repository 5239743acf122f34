package train

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

func logisticConfig() Config {
	c := trainConfig()
	c.Loss = training.LossLogistic
	return c
}

// If the rows do not fit into memory, a share is kept. The choice depends only on the rows, not on
// their messages or on the order of partitions.
func TestRowMemoryKeepsAShareByHash(t *testing.T) {
	events := stagestest.Events(t, stagestest.Binary, 900, 50, stagestest.Faults{})
	set := featureSet(t, stagestest.Binary, events)
	config := logisticConfig()
	row := 4*int64(set.Set.Features.Len()+1) + 1
	config.RowMemory = 300 * row
	cut := stagestest.Cut(t, events, stagestest.Every(40))
	half := len(cut) / 2
	ones, others := featuresOf(t, set, 0, 0, cut[:half], whole), featuresOf(t, set, 1, 0, cut[half:], whole)
	kept := func(order ...[]pipeline.Record) (*Trainer, *wire.Model) {
		trainer, err := New(set, config, arrowio.DefaultLimits(), 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, records := range order {
			for _, r := range records {
				if err := trainer.Partition(r.Partition).Add(r); err != nil {
					t.Fatal(err)
				}
				if bytes := trainer.keptBytes(); bytes > config.RowMemory {
					t.Fatalf("%d bytes of %d are kept", bytes, config.RowMemory)
				}
			}
		}
		return trainer, solve(t, trainer)
	}
	first, model := kept(ones, others)
	second, again := kept(others, ones)
	if model.ID != again.ID || first.share.level.Load() != second.share.level.Load() {
		t.Errorf("another order of the partitions gives model %s, share %v; %s and %v before", again.ID, second.RowShare(),
			model.ID, first.RowShare())
	}
	if share := model.Metrics.RowShare; share < .25 || share > .34 || share != first.RowShare() {
		t.Errorf("%v of 900 rows are kept in the memory of 300", share)
	}
	if rows := first.Rows(); rows != 900 || model.TrainRows > 300 || model.TrainRows < 220 ||
		model.TrainRows*row != first.keptBytes() {
		t.Errorf("%d of %d rows trained on, %d bytes", model.TrainRows, rows, first.keptBytes())
	}
	if *model.Metrics.Misclassification >= *model.Metrics.ConstantError {
		t.Errorf("%v %% wrong", *model.Metrics.Misclassification)
	}

	config.RowMemory = 900 * row
	if _, whole := kept(ones, others); whole.Metrics.RowShare != 0 || whole.TrainRows != 900 {
		t.Errorf("share %v of rows that fit", whole.Metrics.RowShare)
	}
}

// Partitions that are read in parallel drop rows of one another.
func TestPartitionsShareTheRowMemory(t *testing.T) {
	events := stagestest.Events(t, stagestest.Binary, 600, 50, stagestest.Faults{})
	set := featureSet(t, stagestest.Binary, events)
	config := logisticConfig()
	config.RowMemory = 100 * (4*int64(set.Set.Features.Len()+1) + 1)
	cut := stagestest.Cut(t, events, stagestest.Every(20))
	var messages [3][]pipeline.Record
	for number := range messages {
		messages[number] = featuresOf(t, set, number, 0, cut, whole)
	}
	var want string
	for range 5 {
		trainer, err := New(set, config, arrowio.DefaultLimits(), 3)
		if err != nil {
			t.Fatal(err)
		}
		var group errgroup.Group
		for number, records := range messages {
			group.Go(func() error {
				for _, r := range records {
					if err := trainer.Partition(number).Add(r); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		model := solve(t, trainer)
		if want == "" {
			want = model.ID
		}
		if model.ID != want || model.TrainRows > 100 {
			t.Fatalf("model %s of %d rows, %s before", model.ID, model.TrainRows, want)
		}
	}
}

// If train.learning_time does not suffice, fewer rows are kept, also by hash, and the model names
// its economies. The same rows give the same model.
func TestLearningTimeKeepsAShareByHash(t *testing.T) {
	events := stagestest.Events(t, stagestest.Binary, 6000, 51, stagestest.Faults{})
	set := featureSet(t, stagestest.Binary, events.NewSlice(0, 1000))
	config := logisticConfig()
	config.LearningTime = 10 * time.Millisecond
	first, again := trained(t, set, config, true, events), trained(t, set, config, true, events)
	if first.ID != again.ID {
		t.Errorf("models %s and %s of the same rows", first.ID, again.ID)
	}
	if share := first.Metrics.RowShare; share < .12 || share > float64(fewestRows)/6000 {
		t.Errorf("%v of 6000 rows are kept, at most %d", share, fewestRows)
	}
	if cut := first.Metrics.Economies; !slices.Contains(cut, wire.FewerRows) {
		t.Errorf("economies %v", cut)
	}
	if *first.Metrics.Misclassification >= *first.Metrics.ConstantError {
		t.Errorf("%v %% wrong", *first.Metrics.Misclassification)
	}
	config.LearningTime = 100 * time.Microsecond
	least := trained(t, set, config, true, events)
	for _, economy := range []string{wire.FewerRows, wire.FewerHalfLives, string(training.FewerLevels)} {
		if !slices.Contains(least.Metrics.Economies, economy) {
			t.Errorf("economies %v, want %s", least.Metrics.Economies, economy)
		}
	}
	config.LearningTime = time.Hour
	if whole := trained(t, set, config, true, events); len(whole.Metrics.Economies) > 0 || whole.Metrics.RowShare != 0 {
		t.Errorf("economies %v of an hour", whole.Metrics.Economies)
	}
}

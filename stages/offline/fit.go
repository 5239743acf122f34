package offline

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/train"
)

// Fit trains a model on a feature set and the rows of a file. If the split is nil or by hash, the
// stage makes the same model from a topic of these rows. name is the name of the file in the
// lineage.
func Fit(
	ctx context.Context,
	set *wire.FeatureSet,
	config train.Config,
	name string,
	split *train.FileSplit,
	open func() (events.RowReader, error),
) (*wire.Model, train.RowCounts, error) {
	trainer, err := train.NewFile(set, config, name, split)
	if err != nil {
		return nil, train.RowCounts{}, err
	}
	err = events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error { return trainer.Add(batch) })
	if err != nil {
		return nil, trainer.Counts(), err
	}
	model, err := trainer.Solve(ctx, set.Lineage.Pipeline, time.Now())
	counts := trainer.Counts()
	counts.Columns = trainer.Tallies()
	return model, counts, err
}

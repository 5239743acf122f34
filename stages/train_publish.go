package stages

import (
	"context"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
)

// writeModel writes the record of a challenger.
func (r *TrainRunner) writeModel(ctx context.Context, model *wire.Model) error {
	failpoint.Hit(failpoint.ModelBefore)
	if _, err := r.models.Find(model.ID); err == nil && !model.Promoted() {
		return nil
	}
	value, err := wire.EncodeModel(model)
	if err != nil {
		return pipeline.Permanent(err)
	}
	_, err = r.models.write(ctx, "publish model "+model.ID,
		pipeline.Record{Key: wire.SetKey(r.Settings.Pipeline.Name, model.ID), Value: value, Time: model.TrainedAt})
	return err
}

// promote writes the pointer to a model that is on its topic. Where another pointer came between, that one stays.
func (r *TrainRunner) promote(ctx context.Context, model *wire.Model) (stays bool, err error) {
	failpoint.Hit(failpoint.ModelBetween)
	stays, err = r.models.point(ctx, wire.Current{
		ID: model.ID, Sequence: model.Sequence, Time: model.TrainedAt, Replaced: model.Judgement.Incumbent,
	})
	failpoint.Hit(failpoint.ModelAfter)
	return stays, err
}

// retire tombstones the models that are not kept any longer: those that were in use beyond the newest ones, and likewise those
// that were not. The one in use is always kept.
func (r *TrainRunner) retire(ctx context.Context) error {
	if err := r.models.Refresh(ctx); err != nil {
		return err
	}
	groups := map[bool]map[string]time.Time{true: {}, false: {}}
	for _, entry := range r.models.Entries() {
		groups[entry.Promoted()][entry.ID] = entry.Time
	}
	topics := r.Settings.Topics
	for _, published := range groups {
		for _, id := range outdated(published, topics.KeepModels, topics.FeaturesRetention, r.Clock()) {
			if r.models.Current() != nil && r.models.Current().ID == id {
				continue
			}
			tombstone := pipeline.Record{Key: wire.SetKey(r.Settings.Pipeline.Name, id), Time: r.Clock()}
			if _, err := r.models.write(ctx, "retire model "+id, tombstone); err != nil {
				return fmt.Errorf("keep the newest models: %w", err)
			}
		}
	}
	return nil
}

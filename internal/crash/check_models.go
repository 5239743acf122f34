package crash

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// modelsAgain is the number of models that are recomputed.
const modelsAgain = 4

// checkModels recomputes models from features according to their lineage.
func (r *run) checkModels(ctx context.Context) error {
	models, current, err := r.models(ctx)
	if err != nil {
		return err
	}
	if r.plan.losesFeatures() {
		// The features of other models are lost.
		maps.DeleteFunc(models, func(_ string, m *wire.Model) bool { return m.FeatureSetID != r.last })
	}
	ids := slices.Sorted(maps.Keys(models))
	if current != nil && (models[current.ID] != nil || !r.plan.losesFeatures()) {
		ids = append([]string{current.ID}, ids...)
		if model := models[current.ID]; model != nil && (model.Judgement == nil || !model.Promoted()) {
			r.fault("models: %s is current despite the judgement %+v", current.ID, model.Judgement)
		}
	}
	for _, id := range ids[:min(len(ids), modelsAgain)] {
		model := models[id]
		if model == nil {
			r.fault("models: %s is current and missing", id)
			continue
		}
		if err := r.checkModel(ctx, id, model); err != nil {
			return err
		}
	}
	return nil
}

// checkModel recomputes a model.
func (r *run) checkModel(ctx context.Context, id string, model *wire.Model) error {
	trainer, err := r.trainer(ctx, model.FeatureSetID, model.Ranges)
	if err != nil {
		return err
	}
	again, err := trainer.Solve(ctx, r.Name, model.TrainedAt)
	if err != nil {
		return fmt.Errorf("recompute model %s: %w", id, err)
	}
	if wire.ModelID(again) != id || !slices.Equal(again.Ranges, model.Ranges) {
		r.fault("models: %s of %+v, recomputed %s of %+v", id, model.Ranges, wire.ModelID(again), again.Ranges)
	}
	if !reflect.DeepEqual(again.NotHeldOut, model.NotHeldOut) ||
		!reflect.DeepEqual(again.Metrics.Seen, model.Metrics.Seen) {
		r.fault("models: %s held out no rows of %+v (seen: %+v), recomputed %+v (seen: %+v)",
			id, model.NotHeldOut, model.Metrics.Seen, again.NotHeldOut, again.Metrics.Seen)
	}
	if !sameWeights(again.Judged, model.Judged) {
		r.fault("models: weights in the judgement of %s differ from the recomputed ones", id)
	}
	r.result.Models++
	return nil
}

// sameWeights compares two models bit for bit.
func sameWeights(a, b *training.Model) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Theta, b.Theta) && slices.Equal(a.Intercept, b.Intercept)
}

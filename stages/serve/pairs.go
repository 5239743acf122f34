package serve

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// Pairs holds the served pair and follows the current feature set and model. It is safe for
// concurrent use.
type Pairs struct {
	// Predictions serves models with their sets. Without it the current set is served alone.
	Predictions bool
	Threshold   float64 // of [featurize.Pair]
	Serving     *meter.Serving
	Logger      *zap.Logger

	served  atomic.Pointer[featurize.Pair]
	waiting atomic.Pointer[string]
	failed  string // last pair that could not be loaded, so that it is logged once; belongs to Follow
}

// Served returns the served pair, nil before the first.
func (p *Pairs) Served() *featurize.Pair { return p.served.Load() }

// Waiting returns why the served pair is not the current feature set and model, empty if it is.
func (p *Pairs) Waiting() string {
	if why := p.waiting.Load(); why != nil {
		return *why
	}
	return ""
}

// Serve makes later requests use the pair.
func (p *Pairs) Serve(pair *featurize.Pair) {
	if p.served.Swap(pair) != nil {
		p.Serving.Swapped()
	}
	p.Logger.Info("serving a new pair", zap.String("feature_set", pair.SetID()), zap.String("model", pair.ModelID()))
}

// Follow follows the feature sets and models until ctx ends or following fails.
func (p *Pairs) Follow(ctx context.Context, follower *state.Follower) error {
	topics := []state.Topic{state.TopicFeatureSets}
	if p.Predictions {
		topics = append(topics, state.TopicModels)
	}
	return follower.During(ctx, func(ctx context.Context, _ state.Snapshot) error {
		for ctx.Err() == nil {
			changed := follower.Changed() // before the snapshot, so that no change is missed
			p.update(ctx, follower)
			select {
			case <-ctx.Done():
			case <-changed:
			}
		}
		return nil
	}, topics...)
}

// update serves the current feature set and model once both are loaded.
func (p *Pairs) update(ctx context.Context, follower *state.Follower) {
	now := follower.Snapshot()
	set, model, missing := p.wanted(now)
	if set != "" && !p.serves(set, model) {
		pair, err := p.load(ctx, follower, now, set, model)
		switch {
		case err == nil:
			p.failed = ""
			p.Serve(pair)
		case ctx.Err() != nil:
			return
		default:
			missing = fmt.Sprintf("feature set %s with model %q cannot be loaded: %v", set, model, err)
			if p.failed != set+model {
				p.failed = set + model
				p.Logger.Error("cannot load the current feature set and model; still serving the previous pair",
					zap.String("feature_set", set), zap.String("model", model), zap.Error(err))
			}
		}
	}
	p.waiting.Store(&missing)
	p.Serving.Waits(missing)
}

// serves reports whether the pair with these ids is served.
func (p *Pairs) serves(set, model string) bool {
	served := p.served.Load()
	return served != nil && served.SetID() == set && served.ModelID() == model
}

// wanted returns the ids of the pair to serve: the current model and its set or, without models,
// the current set. Empty ids mean no pair. missing describes what the current set or model still
// lacks.
func (p *Pairs) wanted(now state.Snapshot) (set, model, missing string) {
	if now.Current != nil && !p.Predictions {
		return now.Current.ID, "", ""
	}
	entry, ok := now.Models.CurrentEntry()
	ok = ok && entry.Model != nil && p.Predictions
	if ok {
		set, model = entry.Model.FeatureSetID, entry.ID
	}
	switch {
	case now.Current == nil:
		missing = "no feature set yet"
	case now.Models.Current == nil:
		missing = "no model yet"
	case !ok:
		missing = fmt.Sprintf("the current model %s is missing on its topic or unreadable", now.Models.Current.ID)
	case set != now.Current.ID:
		missing = fmt.Sprintf("the current feature set %s has no current model yet", now.Current.ID)
	}
	return set, model, missing
}

// load loads the pair with these ids.
func (p *Pairs) load(
	ctx context.Context,
	follower *state.Follower,
	now state.Snapshot,
	setID string,
	modelID string,
) (*featurize.Pair, error) {
	listed, ok := now.Sets[setID]
	if !ok {
		return nil, fmt.Errorf("feature set %s is missing on its topic", setID)
	}
	set, err := follower.LoadSet(ctx, listed)
	if err != nil {
		return nil, err
	}
	var model *wire.Model
	if modelID != "" {
		entry, err := now.Models.Find(modelID)
		if err != nil {
			return nil, err
		}
		model, err = follower.LoadModel(ctx, entry)
		if err != nil {
			return nil, err
		}
	}
	pair, err := featurize.NewPair(set, model)
	if err != nil {
		return nil, err
	}
	return pair.At(p.Threshold)
}

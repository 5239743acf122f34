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

// Pairs holds the pair being served and follows what is in use. It is safe for concurrent use.
type Pairs struct {
	// Predictions serves models with their sets. Without it the set in use is served alone.
	Predictions bool
	Serving     *meter.Serving
	Logger      *zap.Logger

	served  atomic.Pointer[featurize.Pair]
	waiting atomic.Pointer[string]
	failed  string // the last pair that could not be made, so that it is logged once; belongs to Follow
}

// Served returns the pair being served, nil before the first.
func (p *Pairs) Served() *featurize.Pair { return p.served.Load() }

// Waiting says why something else is served than what is in use; empty if it is not.
func (p *Pairs) Waiting() string {
	if why := p.waiting.Load(); why != nil {
		return *why
	}
	return ""
}

// Serve makes requests use the pair from now on.
func (p *Pairs) Serve(pair *featurize.Pair) {
	if p.served.Swap(pair) != nil {
		p.Serving.Swapped()
	}
	p.Logger.Info("pair in use", zap.String("feature_set", pair.SetID()), zap.String("model", pair.ModelID()))
}

// Follow follows the feature sets and models until ctx ends or following fails.
func (p *Pairs) Follow(ctx context.Context, follower *state.Follower) error {
	topics := []state.Topic{state.TopicFeatureSets}
	if p.Predictions {
		topics = append(topics, state.TopicModels)
	}
	return follower.During(ctx, func(ctx context.Context, _ state.Snapshot) error {
		for ctx.Err() == nil {
			changed := follower.Changed() // before the snapshot, which then is not older
			p.look(ctx, follower)
			select {
			case <-ctx.Done():
			case <-changed:
			}
		}
		return nil
	}, topics...)
}

// look serves what is in use now, if it is complete.
func (p *Pairs) look(ctx context.Context, follower *state.Follower) {
	now := follower.Snapshot()
	set, model, why := p.wanted(now)
	if set != "" && !p.serves(set, model) {
		pair, err := p.load(ctx, follower, now, set, model)
		switch {
		case err == nil:
			p.failed = ""
			p.Serve(pair)
		case ctx.Err() != nil:
			return
		default:
			why = fmt.Sprintf("feature set %s with model %q cannot be used: %v", set, model, err)
			if p.failed != set+model {
				p.failed = set + model
				p.Logger.Error("what is in use cannot be served, what was served before goes on", zap.String("feature_set", set), zap.String("model", model), zap.Error(err))
			}
		}
	}
	p.waiting.Store(&why)
	p.Serving.Waits(why)
}

// serves reports whether the pair with these ids is being served.
func (p *Pairs) serves(set, model string) bool {
	served := p.served.Load()
	return served != nil && served.SetID() == set && served.ModelID() == model
}

// wanted names the pair to serve: the model in use and its set or, without models, the set in use. Empty = none. why says what
// the set or the model in use still lacks.
func (p *Pairs) wanted(now state.Snapshot) (set, model, why string) {
	if now.Current != nil && !p.Predictions {
		return now.Current.ID, "", ""
	}
	entry, ok := now.Models.CurrentEntry()
	if ok = ok && entry.Model != nil && p.Predictions; ok {
		set, model = entry.Model.FeatureSetID, entry.ID
	}
	switch {
	case now.Current == nil:
		why = "there is no feature set yet"
	case now.Models.Current == nil:
		why = "there is no model yet"
	case !ok:
		why = fmt.Sprintf("model %s, in use, is not on its topic or not understood", now.Models.Current.ID)
	case set != now.Current.ID:
		why = fmt.Sprintf("feature set %s, in use, has no model in use yet", now.Current.ID)
	}
	return set, model, why
}

// load makes the pair with these ids.
func (p *Pairs) load(ctx context.Context, follower *state.Follower, now state.Snapshot, setID, modelID string) (*featurize.Pair, error) {
	listed, ok := now.Sets[setID]
	if !ok {
		return nil, fmt.Errorf("feature set %s is not on its topic", setID)
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
		if model, err = follower.LoadModel(ctx, entry); err != nil {
			return nil, err
		}
	}
	return featurize.NewPair(set, model)
}

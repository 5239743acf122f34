package state

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// MendSet replaces a record under the key of a feature set that is not a feature set: by the set if it is known,
// otherwise by nothing.
func (f *Follower) MendSet(ctx context.Context, id string, at time.Time) error {
	if entry, ok := f.Snapshot().Sets[id]; ok {
		set, err := f.LoadSet(ctx, entry)
		if err == nil {
			f.logger.Warn("the record of a feature set was overwritten by something else; writing it again", zap.String("feature_set", id))
			_, err = f.PublishSet(ctx, set, entry.Time)
		}
		if !errors.Is(err, ErrNoSet) {
			return err
		}
	}
	f.logger.Warn("the record under the key of a feature set is not one; deleting it", zap.String("feature_set", id))
	_, err := f.write(ctx, TopicFeatureSets, "delete what is no feature set",
		pipeline.Record{Key: wire.SetKey(f.config.Pipeline, id), Time: at})
	return err
}

// MendModels deletes records under keys of models that are not models, except for the one in use, which the next one
// replaces.
func (f *Follower) MendModels(ctx context.Context, at time.Time) error {
	models := f.Snapshot().Models
	var damaged []string
	for _, entry := range models.entries {
		if entry.Damaged {
			damaged = append(damaged, entry.ID)
		}
	}
	return f.retire(ctx, TopicModels, damaged, models.Current, at)
}

// MendProgress replaces a record under the key of a selection's progress that is not progress: by the last one that was
// understood, or nothing if nil.
func (f *Follower) MendProgress(ctx context.Context, last *wire.Progress, at time.Time) error {
	f.logger.Warn("the progress of a selection was overwritten by something else; writing it again")
	if last != nil {
		return f.PublishProgress(ctx, last)
	}
	_, err := f.write(ctx, TopicExplorations, "delete what is no progress",
		pipeline.Record{Key: wire.ProgressKey(f.config.Pipeline), Time: at})
	return err
}

package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ErrReadOnly reports that the state belongs to another pipeline, and only that one may write it.
var ErrReadOnly = errors.New("feature sets and models belong to another pipeline (featurize.sets_from)")

// write appends records to a topic and waits until the follower has read the last of them. It
// returns the offset of the first.
func (f *Follower) write(
	ctx context.Context,
	t Topic,
	action string,
	records ...pipeline.Record,
) (first int64, err error) {
	if f.config.ReadOnly {
		return 0, pipeline.Permanent(fmt.Errorf("%s: %w; use the configuration of pipeline %s", action, ErrReadOnly,
			f.config.Pipeline))
	}
	first, err = pipeline.Retry(ctx, f.logger, action, func() (int64, error) {
		return f.log.Produce(ctx, f.config.Name(t), 0, records)
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", action, err)
	}
	// Wait for the offset, because later records may already have changed the state.
	last := first + int64(len(records)) - 1
	if _, err := f.wait(ctx, []Topic{t}, func(s Snapshot) bool { return s.next[t] > last }); err != nil {
		return 0, fmt.Errorf("%s: written but not read back: %w", action, err)
	}
	return first, nil
}

// SendRequest writes a request to the explorations topic.
func (f *Follower) SendRequest(ctx context.Context, request wire.Request) error {
	value, err := wire.EncodeRequest(&request)
	if err != nil {
		return err
	}
	_, err = f.write(ctx, TopicExplorations, fmt.Sprintf("send request %s %s", request.Action, request.ID),
		pipeline.Record{Key: wire.RequestKey(f.config.Pipeline, request.ID), Value: value, Time: request.Time})
	return err
}

// AnswerRequests removes requests from the explorations topic.
func (f *Follower) AnswerRequests(ctx context.Context, requests []Request, at time.Time) error {
	_, err := f.write(ctx, TopicExplorations, "answer requests", f.tombstones(requests, at)...)
	return err
}

func (f *Follower) tombstones(requests []Request, at time.Time) []pipeline.Record {
	var records []pipeline.Record
	for _, r := range requests {
		records = append(records, pipeline.Record{Key: wire.RequestKey(f.config.Pipeline, r.ID), Time: at})
	}
	return records
}

// PublishSpec writes a spec and deletes the requests that it answers, the requests below its
// HandledOffset. An encoding error is permanent.
func (f *Follower) PublishSpec(ctx context.Context, spec *wire.Spec, at time.Time, requests ...Request) error {
	value, err := wire.EncodeSpec(spec)
	if err != nil {
		return pipeline.Permanent(err)
	}
	records := []pipeline.Record{{Key: wire.SpecKey(f.config.Pipeline), Value: value, Time: at}}
	answered := slices.DeleteFunc(slices.Clone(requests), func(r Request) bool { return r.Offset >= spec.HandledOffset })
	records = append(records, f.tombstones(answered, at)...)
	_, err = f.write(ctx, TopicExplorations, "publish exploration "+spec.Exploration, records...)
	return err
}

// PublishProgress reports the progress of a selection.
func (f *Follower) PublishProgress(ctx context.Context, p *wire.Progress) error {
	value, err := wire.EncodeProgress(p)
	if err != nil {
		return pipeline.Permanent(err)
	}
	_, err = f.write(ctx, TopicExplorations, "publish progress of "+p.Exploration,
		pipeline.Record{Key: wire.ProgressKey(f.config.Pipeline), Value: value, Time: p.Time})
	return err
}

// RefuseSamples asks the owner of a partition to reread it.
func (f *Follower) RefuseSamples(ctx context.Context, r *wire.Refusal) error {
	value, err := wire.EncodeRefusal(r)
	if err != nil {
		return pipeline.Permanent(err)
	}
	return pipeline.Try(ctx, f.logger, "refuse samples", func() error {
		rec := pipeline.Record{Key: wire.CheckpointKey(r.Exploration), Value: value, Time: r.Time}
		_, err := f.log.Produce(ctx, f.config.Scores, int(r.Partition), []pipeline.Record{rec})
		return err
	})
}

// PublishSet writes a feature set without making it current, and returns its id. An encoding error
// is permanent.
func (f *Follower) PublishSet(ctx context.Context, set *wire.FeatureSet, at time.Time) (id string, err error) {
	id = set.ID()
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		return id, pipeline.Permanent(err)
	}
	_, err = f.write(ctx, TopicFeatureSets, fmt.Sprintf("publish feature set %s of %d bytes", id, len(value)),
		pipeline.Record{Key: wire.SetKey(f.config.Pipeline, id), Value: value, Time: at})
	return id, err
}

// PointSet makes a feature set current.
func (f *Follower) PointSet(ctx context.Context, current *wire.Current, at time.Time) error {
	value, err := wire.EncodeCurrent(current)
	if err != nil {
		return pipeline.Permanent(err)
	}
	_, err = f.write(ctx, TopicFeatureSets, fmt.Sprintf("make feature set %s current", current.ID),
		pipeline.Record{Key: wire.CurrentKey(f.config.Pipeline), Value: value, Time: at})
	return err
}

// RetireSets deletes the sets that are no longer kept. The current set is always kept.
func (f *Follower) RetireSets(ctx context.Context, at time.Time) error {
	now := f.Snapshot()
	sets := make(map[string]time.Time, len(now.Sets))
	for id, set := range now.Sets {
		sets[id] = set.Time
	}
	return f.retire(ctx, TopicFeatureSets, f.outdated(sets, f.config.KeepFeatureSets, at), now.Current, at)
}

// RetireModels deletes the models that are no longer kept. The limit holds for promoted models and
// for the others separately. The current model is always kept.
func (f *Follower) RetireModels(ctx context.Context, at time.Time) error {
	now, err := f.CatchUp(ctx, TopicModels)
	if err != nil {
		return err
	}
	groups := map[bool]map[string]time.Time{true: {}, false: {}}
	for _, entry := range now.Models.entries {
		groups[entry.Promoted()][entry.ID] = entry.Time
	}
	old := f.outdated(groups[true], f.config.KeepModels, at)
	old = append(old, f.outdated(groups[false], f.config.KeepModels, at)...)
	return f.retire(ctx, TopicModels, old, now.Models.Current, at)
}

// retire deletes sets or models, except the current one. That one may look outdated if a process
// without ownership wrote newer records.
func (f *Follower) retire(ctx context.Context, t Topic, ids []string, current *wire.Current, at time.Time) error {
	for _, id := range ids {
		if current != nil && current.ID == id {
			continue
		}
		f.logger.Info("retired", zap.String("topic", f.config.Name(t)), zap.String("id", id))
		tombstone := pipeline.Record{Key: wire.SetKey(f.config.Pipeline, id), Time: at}
		if _, err := f.write(ctx, t, "retire "+id, tombstone); err != nil {
			return err
		}
	}
	return nil
}

// outdated selects from sets or models, given by id with the times of their records: beyond the
// newest to keep, and replaced longer ago than the retention, because the features topic may still
// name younger ones.
func (f *Follower) outdated(published map[string]time.Time, keep int, now time.Time) []string {
	ids := make([]string, 0, len(published))
	for id := range published {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		if newer := published[b].Compare(published[a]); newer != 0 {
			return newer
		}
		return strings.Compare(a, b)
	})
	var old []string
	for i := max(1, keep); i < len(ids); i++ {
		if successor := ids[i-1]; now.Sub(published[successor]) > f.config.Retention {
			old = append(old, ids[i])
		}
	}
	return old
}

package state

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/pipeline"
)

// followPartition reads a partition from its first offset until ctx ends, then returns nil. apply
// gets the records of a fetch and the offset after them; caughtUp reports that everything has been
// read that the partition held at the start. apply is called once before the first fetch. changed
// is called if the log was recreated or truncated; reading then continues after its unchanged part.
// Following does not wait for other fetches, see [pipeline.ForState].
func followPartition(
	ctx context.Context,
	log pipeline.Log,
	logger *zap.Logger,
	topic string,
	partition int,
	changed func(pipeline.Gap),
	apply func(records []pipeline.Record, next int64, caughtUp bool),
) error {
	ctx = pipeline.ForState(ctx)
	r := pipeline.NewReader(log, logger, topic, partition, pipeline.ReadOptions{
		From:  pipeline.FirstOffset,
		Until: pipeline.Forever,
		Watch: pipeline.WatchCompacted,
		OnGap: func(g pipeline.Gap) error {
			g.Log(logger)
			if g.Changed() {
				changed(g)
			}
			return nil
		},
	})
	_, _, err := r.Begin(ctx)
	if err != nil {
		return pipeline.EndOf(ctx, fmt.Errorf("follow %s/%d: %w", topic, partition, err))
	}
	apply(nil, r.NextOffset(), r.CaughtUp())
	for fetched, err := range r.Fetches(ctx) {
		if err != nil {
			return pipeline.EndOf(ctx, fmt.Errorf("follow %s/%d: %w", topic, partition, err))
		}
		apply(fetched.Records, fetched.NextOffset, r.CaughtUp())
	}
	return nil
}

// update is the change that a record makes to the snapshot; nil = none.
type update func(*Snapshot)

func (f *Follower) logUndecodable(topic string, r pipeline.Record, err error) {
	f.logger.Error("ignoring undecodable record", zap.String("topic", topic), zap.Int("partition", r.Partition),
		zap.Int64("offset", r.Offset), zap.ByteString("key", r.Key), zap.Error(err))
}

// follow keeps the snapshot up to date with a topic until ctx ends. If the topic cannot be
// followed, it returns the error, and so do waiting callers.
func (f *Follower) follow(ctx context.Context, t Topic) error {
	decode := [topics]func(*arrowio.Decoder, pipeline.Record) (update, error){
		f.decodeExploration, f.decodeFeatureSet, f.decodeModel,
	}[t]
	decoder := arrowio.NewDecoder(f.config.Limits())
	name := f.config.Name(t)
	changed := func(g pipeline.Gap) { f.change(func() { f.snapshot.startOver(t, g) }) }
	apply := func(records []pipeline.Record, next int64, caughtUp bool) {
		var changes []update
		faults := 0
		for _, r := range records {
			r.Time = r.KnownTime()
			change, err := decode(decoder, r)
			if err != nil {
				faults++
				f.logUndecodable(name, r, err)
			}
			if change != nil {
				changes = append(changes, change)
			}
		}
		f.advance(t, changes, faults, next, caughtUp)
	}
	err := followPartition(ctx, f.log, f.logger, name, 0, changed, apply)
	if err != nil {
		f.change(func() { f.read[t], f.failed[t] = false, err })
	}
	return err
}

// advance applies the changes up to the next offset of a topic. It wakes no waiter if nothing
// changed.
func (f *Follower) advance(t Topic, changes []update, faults int, next int64, caughtUp bool) {
	f.mu.Lock()
	same := len(changes) == 0 && faults == 0 && f.snapshot.next[t] == next && f.read[t] == (f.read[t] || caughtUp)
	f.mu.Unlock()
	if same {
		return
	}
	f.change(func() {
		for _, change := range changes {
			change(&f.snapshot)
		}
		f.snapshot.Undecodable[t] += int64(faults)
		f.snapshot.next[t] = next
		if t == TopicModels {
			f.snapshot.Models.next = next
		}
		f.read[t] = f.read[t] || caughtUp
	})
}

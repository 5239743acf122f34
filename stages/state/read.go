package state

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/pipeline"
)

// followed reads a partition from its first offset until ctx ends; then it returns nil. apply takes what a fetch gave, and the offset behind it; caughtUp says that everything is read
// that the partition held when reading began. It is called once before the first fetch.
func followed(ctx context.Context, log pipeline.Log, logger *zap.Logger, topic string, partition int,
	apply func(records []pipeline.Record, next int64, caughtUp bool)) error {
	r := pipeline.NewReader(log, logger, topic, partition, pipeline.ReadOptions{From: pipeline.FirstOffset, Until: pipeline.Forever})
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

// decoded is what a record changes; nil = nothing.
type decoded func(*Snapshot)

// follow keeps the snapshot up to date with a topic until ctx ends. Where the topic cannot be followed it returns the error,
// as do waiting callers.
func (f *Follower) follow(ctx context.Context, t Topic) error {
	decode := [topics]func(*arrowio.Decoder, pipeline.Record) (decoded, error){
		f.decodeExploration, f.decodeFeatureSet, f.decodeModel,
	}[t]
	decoder := arrowio.NewDecoder(f.config.Limits())
	name := f.config.Name(t)
	err := followed(ctx, f.log, f.logger, name, 0, func(records []pipeline.Record, next int64, caughtUp bool) {
		var changes []decoded
		faults := 0
		for _, r := range records {
			change, err := decode(decoder, r)
			if err != nil {
				faults++
				f.logger.Error("record not understood, ignored", zap.String("topic", name),
					zap.Int64("offset", r.Offset), zap.ByteString("key", r.Key), zap.Error(err))
			}
			if change != nil {
				changes = append(changes, change)
			}
		}
		f.advance(t, changes, faults, next, caughtUp)
	})
	if err != nil {
		f.change(func() { f.read[t], f.failed[t] = false, err })
	}
	return err
}

// advance applies what was read of a topic up to the next offset. Where nothing is new, nobody is woken.
func (f *Follower) advance(t Topic, changes []decoded, faults int, next int64, caughtUp bool) {
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

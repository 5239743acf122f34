package crash

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/state"
)

// produceMain sends the main part of the input, evenly over the duration of the plan.
func (r *run) produceMain(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for partition := range partitions {
		group.Go(func() error {
			for n := range mainMessages {
				if !sleep(ctx, time.Until(r.began.Add(r.plan.Produce*time.Duration(n)/mainMessages))) {
					return ctx.Err()
				}
				if err := r.produceUpTo(ctx, partition, n+1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// produceTo sends messages until each partition has the wanted number.
func (r *run) produceTo(ctx context.Context, next int) error {
	for partition := range partitions {
		if err := r.produceUpTo(ctx, partition, next); err != nil {
			return err
		}
	}
	return nil
}

// produceUpTo sends messages until a partition has the wanted number. If its log has changed, it
// resends all of them.
func (r *run) produceUpTo(ctx context.Context, partition, next int) error {
	for {
		sent, err := r.produceNext(ctx, partition, next)
		if err != nil || !sent {
			return err
		}
	}
}

// produceNext sends one more event, up to the limit, while the broker is up. A restarted broker may
// refuse the event for a moment, or write it without an acknowledgement. There is no other writer,
// so the end of the partition shows whether it was written. The end may lag until all replicas have
// the event, so the event is retried with the same number.
func (r *run) produceNext(ctx context.Context, partition, limit int) (sent bool, err error) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	topic, log := r.loaded.Stages.Topics.Events, r.events()
	offset := log.sent[partition]
	if offset >= limit {
		return false, nil
	}
	if log.writers[partition] == nil {
		log.writers[partition], err = pipeline.OpenWriter(ctx, r.client, zap.NewNop(), nil)
		if err != nil {
			return false, fmt.Errorf("open a writer of events: %w", err)
		}
	}
	records := []pipeline.Record{{Value: log.input[partition][offset].Value, Time: r.plan.eventTime(offset)}}
	for {
		_, err := log.writers[partition].Produce(ctx, topic, partition, records)
		if err == nil {
			break
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return false, fmt.Errorf("send event %d: %w", offset, err)
		}
		if _, next, err := r.client.Offsets(ctx, topic, partition); err == nil && next > int64(offset) {
			break
		}
	}
	log.sent[partition]++
	return true, nil
}

// settle waits until the explorations are over, sends the tail, which triggers another one, and
// then the end, and waits until everything is processed.
func (r *run) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	send := func(next int) func(context.Context) error {
		return func(ctx context.Context) error { return r.produceTo(ctx, next) }
	}
	sets := func(sent int64) func(context.Context) error {
		return func(ctx context.Context) error { return r.awaitSets(ctx, sent) }
	}
	const tailed = mainMessages + tailMessages
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"lost events are resent", send(mainMessages)},
		{"the feature sets", sets(mainMessages)},
		{"the tail is sent", send(tailed)},
		{"the feature sets of the tail", sets(tailed)},
		{"the end is sent", send(allMessages)},
		{"the feature sets of the end", sets(allMessages)},
		{"the features", r.awaitFeatures},
		{"the model", r.awaitModel},
	} {
		if err := step.do(ctx); err != nil {
			r.fault("%v: %s: %v", errNotAtRest, step.name, err)
			return
		}
		r.note("rest: %s", step.name)
	}
}

// awaitSets waits until the set of the newest exploration is current and no other exploration is
// due. sent is the number of messages in each partition.
func (r *run) awaitSets(ctx context.Context, sent int64) error {
	follower := state.New(r.client, zap.NewNop(), r.loaded.Stages.State())
	return follower.During(ctx, func(ctx context.Context, _ state.Snapshot) error {
		now, err := follower.Wait(ctx, func(s state.Snapshot) bool { return r.atRest(s, sent) })
		if err != nil {
			return fmt.Errorf("current %+v, newest %+v: %w", now.Current, now.Spec, err)
		}
		r.last = now.Current.ID
		return nil
	})
}

// atRest reports whether no further exploration is due.
func (r *run) atRest(s state.Snapshot, sent int64) bool {
	if s.CurrentSet() == nil || s.Spec == nil || s.Spec.Status != wire.StatusRunning ||
		s.Current.Sequence < s.Spec.Sequence || len(s.Repairs) > 0 || s.Spec.EventsLog != r.events().id {
		return false
	}
	var behind int64
	for _, part := range s.Spec.Partitions {
		behind += sent - part.EndOffset
	}
	return behind < everyOffsets
}

// awaitFeatures waits until every partition of features reaches the end of the input.
func (r *run) awaitFeatures(ctx context.Context) error {
	for partition := range partitions {
		const want = int64(allMessages)
		err := r.poll(ctx, func() (string, bool, error) {
			messages, err := r.features(ctx, partition)
			if err != nil {
				return "", false, err
			}
			var next int64
			for _, m := range messages {
				if m.Last() && slices.Contains(r.named(m.SourceLog), len(r.logs)-1) {
					next = max(next, m.SourceOffset+1)
				}
			}
			return fmt.Sprintf("partition %d is at %d of %d", partition, next, want), next == want, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitModel waits for a model of all rows of the last feature set, promoted or not. If the set
// became current too late, the rows do not suffice for a model.
func (r *run) awaitModel(ctx context.Context) error {
	last := r.last
	if err := r.loadSets(ctx); err != nil {
		return err
	}
	want, err := r.trainable(ctx, last)
	if err != nil || want < r.loaded.Stages.Train.MinRows {
		return err
	}
	return r.poll(ctx, func() (string, bool, error) {
		models, current, err := r.models(ctx)
		if err != nil || current == nil {
			return "no model", false, err
		}
		var most int64
		for _, model := range models {
			if model.FeatureSetID == last {
				most = max(most, modelRows(model))
			}
		}
		text := fmt.Sprintf("%d models, of %s with up to %d rows, want %d", len(models), last, most, want)
		return text, most == want, nil
	})
}

// modelRows is the number of rows of a model.
func modelRows(model *wire.Model) (rows int64) {
	for _, part := range model.Ranges {
		rows += part.Rows
	}
	return rows
}

// poll repeats ask until it is done.
func (r *run) poll(ctx context.Context, ask func() (progress string, done bool, err error)) error {
	for {
		progress, done, err := ask()
		if err != nil || done {
			return err
		}
		if !sleep(ctx, 250*time.Millisecond) {
			return fmt.Errorf("%s: %w", progress, ctx.Err())
		}
	}
}

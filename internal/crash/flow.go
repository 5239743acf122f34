package crash

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/state"
)

// produceMain sends the main part of the input, evenly over the time of the plan.
func (r *run) produceMain(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for partition := range partitions {
		group.Go(func() error {
			for n := range mainMessages {
				if !sleep(ctx, time.Until(r.began.Add(r.plan.Produce*time.Duration(n)/mainMessages))) {
					return ctx.Err()
				}
				if err := r.produce(ctx, partition, n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// produceTo sends the events of some offsets to each partition.
func (r *run) produceTo(ctx context.Context, first, next int) error {
	for partition := range partitions {
		for n := first; n < next; n++ {
			if err := r.produce(ctx, partition, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// produce sends the event of an offset, at a time when the broker is there. A broker that has just come back may refuse
// it for a moment: nobody else writes, so the end of the partition says whether it has it.
func (r *run) produce(ctx context.Context, partition, offset int) error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	topic := r.loaded.Stages.Topics.Events
	for {
		_, err := r.client.Produce(ctx, topic, partition, []pipeline.Record{{Value: r.input[partition][offset].Value}})
		if err == nil {
			return nil
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return fmt.Errorf("send event %d: %w", offset, err)
		}
		if _, next, err := r.client.Offsets(ctx, topic, partition); err == nil && next > int64(offset) {
			return nil
		}
	}
}

// comeToRest waits until the explorations are over, sends the tail, which brings another one, and then the end, and waits
// until all is through.
func (r *run) comeToRest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	send := func(first, next int) func(context.Context) error {
		return func(ctx context.Context) error { return r.produceTo(ctx, first, next) }
	}
	sets := func(sent int64) func(context.Context) error {
		return func(ctx context.Context) error { return r.awaitSets(ctx, sent) }
	}
	const tailed = mainMessages + tailMessages
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"the feature sets", sets(mainMessages)},
		{"the tail is sent", send(mainMessages, tailed)},
		{"the feature sets of the tail", sets(tailed)},
		{"the end is sent", send(tailed, allMessages)},
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

// awaitSets waits until the set of the newest exploration is in use and no other exploration is due. So many messages were
// sent to each partition.
func (r *run) awaitSets(ctx context.Context, sent int64) error {
	follower := state.New(r.client, zap.NewNop(), r.loaded.Stages.State())
	return follower.During(ctx, func(ctx context.Context, _ state.Snapshot) error {
		now, err := follower.Wait(ctx, func(s state.Snapshot) bool { return atRest(s, sent) })
		if err != nil {
			return fmt.Errorf("current %+v, newest %+v: %w", now.Current, now.Spec, err)
		}
		r.last = now.Current.ID
		return nil
	})
}

// atRest is whether nothing calls for another exploration.
func atRest(s state.Snapshot, sent int64) bool {
	if s.CurrentSet() == nil || s.Spec == nil || s.Spec.Status != wire.StatusRunning || s.Current.Sequence < s.Spec.Sequence ||
		s.Shadowed || s.CurrentShadowed {
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
				if m.Last() {
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

// awaitModel waits for a model of all rows of the last feature set, put in use or not. Where the set came into use too late
// there are too few of them, and there is none.
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
		text := fmt.Sprintf("%d models, those of %s have up to %d rows, want %d", len(models), last, most, want)
		return text, most == want, nil
	})
}

// modelRows is how many rows a model was made from.
func modelRows(model *wire.Model) (rows int64) {
	for _, part := range model.Ranges {
		rows += part.Rows
	}
	return rows
}

// poll asks again and again until the answer is yes.
func (r *run) poll(ctx context.Context, ask func() (where string, done bool, err error)) error {
	for {
		where, done, err := ask()
		if err != nil || done {
			return err
		}
		if !sleep(ctx, 250*time.Millisecond) {
			return fmt.Errorf("%s: %w", where, ctx.Err())
		}
	}
}

package crash

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// produceMain sends the main part of the input, evenly over the time of the plan.
func (r *run) produceMain(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for partition := range partitions {
		group.Go(func() error {
			for n := range r.ref.input.Main[partition] {
				if !sleep(ctx, time.Until(r.began.Add(r.plan.Produce*time.Duration(n)/mainMessages))) {
					return ctx.Err()
				}
				if err := r.produce(ctx, partition, n, r.ref.input.Main[partition][n]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (r *run) produceTail(ctx context.Context) error {
	for partition := range partitions {
		for n, m := range r.ref.input.Tail[partition] {
			if err := r.produce(ctx, partition, mainMessages+n, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// produce sends the event of an offset, at a time when the broker is there. A broker that has just come back may refuse
// it for a moment: nobody else writes, so the end of the partition says whether it has it.
func (r *run) produce(ctx context.Context, partition, offset int, m Message) error {
	r.gate.RLock()
	defer r.gate.RUnlock()
	topic := r.loaded.Stages.Topics.Events
	for {
		_, err := r.client.Produce(ctx, topic, partition, []pipeline.Record{{Value: m.Value}})
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

// comeToRest waits until the explorations are over, sends the tail, and waits until it is through.
func (r *run) comeToRest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"the feature sets", r.awaitSets},
		{"the tail is sent", r.produceTail},
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

// awaitSets waits for the last of the feature sets that the input gives.
func (r *run) awaitSets(ctx context.Context) error {
	watch := stages.NewWatch(r.client, zap.NewNop(), r.Name, r.loaded.Stages.Topics)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- watch.Run(ctx) }()
	last := int64(len(r.ref.sets))
	state, err := watch.Wait(ctx, func(s stages.State) bool {
		return s.Current != nil && s.Current.Sequence >= last && s.CurrentSet() != nil && s.Running() == nil
	})
	cancel()
	if err != nil {
		err = fmt.Errorf("current %+v, newest %+v: %w", state.Current, state.Spec, err)
	}
	return errors.Join(err, <-ended)
}

// awaitFeatures waits until every partition of features reaches the end of the input.
func (r *run) awaitFeatures(ctx context.Context) error {
	for partition := range partitions {
		want := int64(len(r.ref.input.All(partition)))
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
	last := r.ref.sets[len(r.ref.sets)-1].ID()
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
				most = max(most, rowsOf(model))
			}
		}
		text := fmt.Sprintf("%d models, those of %s have up to %d rows, want %d", len(models), last, most, want)
		return text, most == want, nil
	})
}

// rowsOf is how many rows a model was made from.
func rowsOf(model *wire.Model) (rows int64) {
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

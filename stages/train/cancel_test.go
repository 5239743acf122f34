package train

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// countdown is a context that is canceled at a numbered check, as by a signal between two steps.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	at     int64 // 0 = never
	checks atomic.Int64
}

func newCountdown(t *testing.T, at int64) *countdown {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return &countdown{Context: ctx, cancel: cancel, at: at}
}

// Err implements [context.Context].
func (c *countdown) Err() error {
	if n := c.checks.Add(1); n == c.at {
		c.cancel()
	}
	return c.Context.Err()
}

// Learning ends at the step in which its context ends, whichever that is, without a model: a signal
// to `trainer fit` is not heard only after the last step.
func TestLearningStopsAtTheStepOfASignal(t *testing.T) {
	for name, c := range map[string]struct {
		task, loss string
		// least is the least number of checks: one for each step of a descent or, with the squared
		// loss, for each half-life.
		least int64
	}{
		"logistic, two classes":  {stagestest.Binary, training.LossLogistic, 10},
		"logistic, four classes": {stagestest.Classes, training.LossLogistic, 10},
		"squared":                {stagestest.Regression, training.LossSquared, 1},
	} {
		rows := stagestest.Events(t, c.task, 4000, 52, stagestest.Faults{})
		set := featureSet(t, c.task, rows)
		config := trainConfig()
		config.Loss = c.loss
		messages := featureMessages(t, set, stagestest.Cut(t, rows, stagestest.Every(50)), whole)
		learn := func(ctx context.Context) error {
			model, err := train(t, set, config, messages).Solve(ctx, "test", stagestest.Noon)
			if (model == nil) != (err != nil) {
				t.Errorf("%s: model %v and %v", name, model, err)
			}
			return err
		}
		undisturbed := newCountdown(t, 0)
		if err := learn(undisturbed); err != nil {
			t.Fatal(err)
		}
		steps := undisturbed.checks.Load()
		if steps < c.least {
			t.Errorf("%s: learning checks its context %d times, want at least %d", name, steps, c.least)
		}
		for at := int64(1); at <= steps; at += max(1, steps/8) {
			ctx := newCountdown(t, at)
			if err := learn(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, step %d of %d: %v", name, at, steps, err)
			}
			if later := ctx.checks.Load() - at; later > 1 {
				t.Errorf("%s, step %d of %d: %d steps later", name, at, steps, later)
			}
		}
	}
}

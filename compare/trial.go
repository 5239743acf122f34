package compare

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

// Trial is what a method may use to make M features: the training rows and the pool of a repeat. It belongs to one
// goroutine; what it returns is shared between trials and must only be read.
type Trial struct {
	// M is the number of features wanted.
	M int
	// Seed is that of the repeat. A method that draws something itself derives its random stream
	// from it.
	Seed uint64
	// Task says what the labels are.
	Task scoring.Task
	// Options are those of the comparison.
	Options Options

	repeat *repeat
	used   map[string]bool
	// charged are the seconds of shared work that this trial uses, spent the part of them that was done
	// during this trial.
	charged, spent float64
}

// newTrial returns the trial of one method at M features.
func (r *repeat) newTrial(m int) *Trial {
	return &Trial{M: m, Seed: r.seed, Task: r.train.task, Options: r.options, repeat: r, used: make(map[string]bool)}
}

// Candidates describes the pool of the repeat.
func (t *Trial) Candidates() scoring.Candidates { return t.repeat.pool.candidates }

// Sample returns the N0 encoded training rows on which candidates are scored.
func (t *Trial) Sample() (x []float32, rows int, y scoring.Targets) { return t.repeat.pool.rows() }

// Bank returns the drawn candidates of the pool.
func (t *Trial) Bank() *scoring.Bank {
	return Shared(t, "bank", func() *scoring.Bank { return scoring.NewBank(t.Candidates()) })
}

// Sums returns the sums of all candidates of the pool over the sample.
func (t *Trial) Sums() *scoring.Sums {
	bank := t.Bank()
	return Shared(t, "sums", func() *scoring.Sums { return t.repeat.pool.score(bank) })
}

// HeldOutLoss trains models on a feature set as the comparison does and returns the loss of the best λ on the held-out
// training rows, for methods that tune themselves.
func (t *Trial) HeldOutLoss(ctx context.Context, set *scoring.FeatureSet) (float64, error) {
	fitted, err := t.repeat.fit(ctx, only(set))
	if err != nil {
		return 0, err
	}
	return fitted.loss, nil
}

// share is the result of work that several trials of a repeat use and the first of them does.
type share struct {
	value   any
	seconds float64
}

// Shared returns the result of the named work, doing it if necessary, and charges its time to the trial, once. Work
// that needs other shared work requests that first, so that every user pays for both.
func Shared[T any](t *Trial, name string, work func() T) T {
	s := t.repeat.shares[name]
	if s == nil {
		began := time.Now()
		s = &share{value: work()}
		s.seconds = time.Since(began).Seconds()
		t.spent += s.seconds
		t.repeat.shares[name] = s
	}
	if !t.used[name] {
		t.used[name] = true
		t.charged += s.seconds
	}
	return s.value.(T)
}

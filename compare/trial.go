package compare

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

// Trial is the input of a method that makes M features: the training rows and the pool of a repeat.
// It belongs to one goroutine; its results are shared between trials and must not be changed.
type Trial struct {
	// M is the requested number of features.
	M int
	// Seed is the seed of the repeat. A method that draws random numbers derives its stream from
	// it.
	Seed uint64
	// Task is the kind of the labels.
	Task scoring.Task
	// Options are the options of the comparison.
	Options Options

	repeat *repeat
	used   map[string]bool
	// charged are the seconds of shared work that this trial uses, spent the part of them that ran
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

// HeldOutLoss trains models on a feature set like the comparison, and returns the loss of the best
// λ on the held-out training rows. Methods tune themselves with it.
func (t *Trial) HeldOutLoss(ctx context.Context, set *scoring.FeatureSet) (float64, error) {
	fitted, err := t.repeat.fit(ctx, only(set))
	if err != nil {
		return 0, err
	}
	return fitted.loss, nil
}

// share is the result of work that several trials of a repeat use; the first of them does the work.
type share struct {
	value   any
	seconds float64
}

// Shared returns the result of the named work, which it does if necessary, and charges its time to
// the trial once. Work that needs other shared work must request that first, so that every user is
// charged for both.
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

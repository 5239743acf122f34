package adaptive

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

// Learn chooses o.Features features by what it learns from the sample. The candidates are those of [FirstRound]; bank
// and sums belong to them. sums has the rows of the sample that are not held out, in whatever partitions they were
// summed, and determines the choice of the first round. Everything after that is computed from the sample in memory.
//
// It fails where [scoring.SelectFrom] does, if nothing or everything is held out, and if the candidates do not pass
// [scoring.Criterion.Check].
func Learn(candidates scoring.Candidates, sums *scoring.Sums, sample *scoring.Sample, task scoring.Task, o Options) (*Learned, error) {
	began := time.Now()
	l, err := newLearner(candidates, sums, sample, task, o)
	if err != nil {
		return nil, fmt.Errorf("learn features: %w", err)
	}
	if err := l.rounds(); err != nil {
		return nil, fmt.Errorf("learn features: %w", err)
	}
	rounds := time.Since(began)
	if err := l.refine(); err != nil {
		return nil, fmt.Errorf("learn features: %w", err)
	}
	learned, err := l.learned()
	if err != nil {
		return nil, fmt.Errorf("learn features: %w", err)
	}
	learned.RoundTime, learned.RefineTime = rounds, time.Since(began)-rounds
	return learned, nil
}

package adaptive

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring"
)

// Learn learns up to o.Features features from the sample. The candidates are those of [FirstRound],
// or any if o.ChooseOnly is set. sums are the sums of these candidates over the rows of the sample
// that are not held out, in any division into partitions; they determine the choice of the first
// round of the cosines. Everything after that is computed from the sample in memory.
//
// It fails where [scoring.SelectFrom] does, if nothing or everything is held out, and if the
// candidates do not pass [scoring.Criterion.Check].
func Learn(
	candidates scoring.Candidates,
	sums *scoring.Sums,
	sample *scoring.Sample,
	task scoring.Task,
	o Options,
) (*Learned, error) {
	learned, err := learnMembers(candidates, sums, sample, task, o)
	if err != nil {
		return nil, fmt.Errorf("learn features: %w", err)
	}
	return learned, nil
}

func learnMembers(
	candidates scoring.Candidates,
	sums *scoring.Sums,
	sample *scoring.Sample,
	task scoring.Task,
	o Options,
) (*Learned, error) {
	if err := o.check(candidates); err != nil {
		return nil, err
	}
	fit, heldOut := split(sample)
	if fit.n == 0 || heldOut.n == 0 {
		return nil, fmt.Errorf("%d rows to learn from and %d held out: %w", fit.n, heldOut.n, scoring.ErrNoRows)
	}
	c := &committee{heldOut: heldOut}
	for _, share := range o.shares(candidates.Count) {
		l := newLearner(share, candidates, sums, sample, task, o)
		l.fit, l.heldOut = fit, heldOut
		if err := l.run(); err != nil {
			return nil, err
		}
		if err := c.add(l); err != nil {
			return nil, err
		}
	}
	return c.learned(o)
}

// run makes the points: the rounds of each track and the refinement of its best, then the last
// rounds, which start from the results of the tracks, and their refinement.
func (l *learner) run() error {
	if l.o.ChooseOnly {
		return l.firstChoice(Point{Kind: ByResidual})
	}
	for _, t := range l.o.tracks() {
		if err := l.rounds(t); err != nil {
			return err
		}
		if err := l.refine(l.best(t)); err != nil {
			return err
		}
	}
	if l.o.RefineSteps == 0 {
		return nil
	}
	for round := range l.o.RefineRounds {
		if err := l.lastRound(lastRound+1+round, round == 0); err != nil {
			return err
		}
		if err := l.refine(l.points[len(l.points)-1]); err != nil {
			return err
		}
	}
	return nil
}

package adaptive

import (
	"slices"

	"github.com/eerf-stream/eerf/scoring"
)

// storeBytes bounds the memory of features that are rescored against the residual of a model:
// enough for 4,000 candidates on the training rows of a sample of 10,000.
const storeBytes = 128 << 20

// rounds runs the rounds of a track and measures their choices.
func (l *learner) rounds(t Track) error {
	var err error
	if t == Cosines {
		err = l.firstChoice(Point{Kind: ByRound, Track: t})
	} else {
		err = l.choose(Point{Kind: ByRound, Track: t}, l.draw(poolOf{track: t}))
	}
	for round := 1; round <= lastRound && err == nil; round++ {
		last := l.points[len(l.points)-1]
		err = l.round(Point{Kind: ByRound, Track: t, Round: round}, last, last)
	}
	return err
}

// lastRound draws a pool from the best point so far. The first last round carries over the features
// of the best point of each track, later ones those of the best point.
func (l *learner) lastRound(round int, first bool) error {
	best := l.best()
	track, winners := best.Track, []*point{best}
	if tracks := l.o.tracks(); len(tracks) > 1 {
		track = Both
		if first {
			winners = winners[:0]
			for _, t := range tracks {
				winners = append(winners, l.best(t))
			}
		}
	}
	return l.round(Point{Kind: ByRound, Track: track, Round: round}, best, winners...)
}

// round draws a pool along the directions in which the model on the features of a point bends, and
// chooses from it.
func (l *learner) round(at Point, from *point, winners ...*point) error {
	bends, err := l.gradients(from.features)
	if err != nil {
		return err
	}
	return l.choose(at, l.draw(poolOf{track: at.Track, round: at.Round, winners: winners, gradients: bends}))
}

// firstChoice measures a choice from the candidates whose sums are given.
func (l *learner) firstChoice(at Point) error {
	l.pools++
	pool, first := l.pools, int32(l.first)
	return l.chooseFrom(at, l.bank, l.streamed, nil, func(i int32) origin { return origin{pool, first + i} })
}

// choose measures a choice from a pool.
func (l *learner) choose(at Point, p *pool) error {
	bank := scoring.NewBankOf(p.features)
	return l.chooseFrom(at, bank, l.fitSums(bank), p.bins, func(i int32) origin { return p.origins[i] })
}

// chooseFrom chooses up to M candidates by residual on the training rows, and measures them.
func (l *learner) chooseFrom(
	at Point,
	bank *scoring.Bank,
	sums *scoring.Sums,
	bins []int32,
	origins func(i int32) origin,
) error {
	chosen, err := l.selectFrom(bank, sums, bins)
	if err != nil {
		return err
	}
	numbers := slices.Sorted(slices.Values(chosen.Index))
	p := &point{Point: at, features: bank.Draw(numbers), chosen: &chosen}
	for _, i := range numbers {
		p.origins = append(p.origins, origins(i))
	}
	order := make([]int32, len(numbers))
	for rank, i := range chosen.Index {
		place, _ := slices.BinarySearch(numbers, i)
		order[rank] = int32(place)
	}
	return l.measure(p, order)
}

// selectFrom chooses by residual on the training rows.
func (l *learner) selectFrom(bank *scoring.Bank, sums *scoring.Sums, bins []int32) (scoring.Selection, error) {
	sample := &scoring.Sample{X: l.fit.x, Rows: l.fit.n, Dim: l.fit.dim, Targets: l.fit.targets}
	return scoring.SelectFrom(bank, sums, sample, l.task, scoring.SelectOptions{
		Criterion: scoring.Residual,
		Features:  min(l.o.Features, bank.Len()),
		Rounds:    l.o.Rounds,
		Workers:   l.o.Workers,
		Store:     l.store,
		Bins:      bins,
		Stop:      l.o.Stop,
	})
}

// fitSums returns the sums of a bank's candidates over the training rows.
func (l *learner) fitSums(bank *scoring.Bank) *scoring.Sums {
	return l.store.Score(bank, l.fit.x, l.fit.n, l.fit.targets, l.o.Workers)
}

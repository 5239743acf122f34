package adaptive

import (
	"github.com/eerf-stream/eerf/scoring"
)

// storeBytes bounds the memory of features that are scored again against the residual of a model: enough for 4,000
// candidates over the rows learned from in a sample of 10,000.
const storeBytes = 128 << 20

// rounds measures what residual would choose, and then the choice of each round.
func (l *learner) rounds() error {
	if err := l.plainRound(); err != nil {
		return err
	}
	bank := scoring.NewBank(l.candidates, scoring.BankOptions{})
	chosen, err := l.choose(bank, l.streamed)
	if err != nil {
		return err
	}
	for i := range chosen.Round {
		chosen.Round[i] = 1
	}
	if err := l.measure(Point{Kind: ByRound}, bank.Draw(chosen.Index), chosen); err != nil {
		return err
	}
	for round := 1; round <= lastRound; round++ {
		if err := l.round(round, l.points[len(l.points)-1]); err != nil {
			return err
		}
	}
	return nil
}

// plainRound measures what criterion residual chooses among plain candidates.
func (l *learner) plainRound() error {
	bank := scoring.NewBank(Plain(l.candidates), scoring.BankOptions{})
	chosen, err := l.choose(bank, l.fitSums(bank))
	if err != nil {
		return err
	}
	clear(chosen.Round)
	return l.measure(Point{Kind: ByResidual}, bank.Draw(chosen.Index), chosen)
}

// round draws a pool by the directions in which the model on the last round's features bends, and chooses from it.
func (l *learner) round(round int, last *point) error {
	bends, err := l.gradients(last.features)
	if err != nil {
		return err
	}
	pool := l.pool(round, last.features, bends)
	bank := scoring.NewBankOf(pool)
	chosen, err := l.choose(bank, l.fitSums(bank))
	if err != nil {
		return err
	}
	features := pool.Pick(chosen.Index)
	for i, index := range chosen.Index {
		chosen.Round[i] = int32(round + 1)
		if winner := int(index); winner < last.features.Len() { // carried over
			chosen.Index[i], chosen.Round[i] = last.chosen.Index[winner], last.chosen.Round[winner]
		}
	}
	return l.measure(Point{Kind: ByRound, Round: round}, features, chosen)
}

// choose takes M candidates by residual, from the rows learned from.
func (l *learner) choose(bank *scoring.Bank, sums *scoring.Sums) (scoring.Selection, error) {
	sample := &scoring.Sample{X: l.fit.x, Rows: l.fit.n, Dim: l.fit.dim, Targets: l.fit.targets}
	o := l.residual()
	o.Store = l.store
	return scoring.SelectFrom(bank, sums, sample, l.task, o)
}

// fitSums returns the sums of a bank's candidates over the rows learned from.
func (l *learner) fitSums(bank *scoring.Bank) *scoring.Sums {
	return l.store.Score(bank, l.fit.x, l.fit.n, l.fit.targets, l.o.Workers)
}

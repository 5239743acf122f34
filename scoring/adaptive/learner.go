package adaptive

import (
	"errors"
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// learner is one call of [Learn].
type learner struct {
	candidates scoring.Candidates // of the first round
	streamed   *scoring.Sums      // of the first round, over the rows that are not held out
	sample     *scoring.Sample
	task       scoring.Task
	o          Options

	fit     *rows // what is learned from
	heldOut *rows // what points are judged by
	coding  scoring.Coding

	store     *scoring.FeatureStore // of the candidates that are chosen from
	evaluated *evaluation           // nil until features are evaluated
	last      summed                // what was evaluated last
	width     float64               // bandwidth of the rows as they are, 0 until it is known
	points    []*point              // as they were measured
	winner    int
}

// point is features that the guard has measured, and where they come from.
type point struct {
	Point
	features *scoring.Features
	chosen   scoring.Selection // of the features, before they were moved
}

// newLearner checks the inputs and splits the sample.
func newLearner(candidates scoring.Candidates, sums *scoring.Sums, sample *scoring.Sample, task scoring.Task, o Options) (*learner, error) {
	if o.Rounds < 0 || o.RefineSteps < 0 || o.RefineRounds < 0 || o.Workers < 0 {
		panic(fmt.Sprintf("adaptive: %d rounds of residual, %d steps and %d rounds of refinement, %d workers",
			o.Rounds, o.RefineSteps, o.RefineRounds, o.Workers))
	}
	if err := errors.Join(scoring.Adaptive.Check(candidates), candidates.Validate()); err != nil {
		return nil, err
	}
	l := &learner{candidates: candidates, streamed: sums, sample: sample, task: task, o: o, coding: sums.Coding(task), store: scoring.NewFeatureStore(storeBytes)}
	l.fit, l.heldOut = split(sample)
	if l.fit.n == 0 || l.heldOut.n == 0 {
		return nil, fmt.Errorf("%d rows to learn from and %d held out: %w", l.fit.n, l.heldOut.n, scoring.ErrNoRows)
	}
	return l, nil
}

// measure judges features and records them as a point. A loss that is not a number counts as the greatest.
func (l *learner) measure(at Point, f *scoring.Features, chosen scoring.Selection) error {
	loss, standardError, err := l.judge(f)
	if err != nil && !errors.Is(err, training.ErrNotFinite) {
		return err
	}
	at.Loss, at.StdErr = math.MaxFloat64, 0
	if err == nil && !math.IsInf(loss+standardError, 0) && !math.IsNaN(loss+standardError) {
		at.Loss, at.StdErr = loss, standardError
	}
	l.points = append(l.points, &point{Point: at, features: f, chosen: chosen})
	if at.Loss < l.best().Loss {
		l.winner = len(l.points) - 1
	}
	if l.o.Progress != nil {
		l.o.Progress(at)
	}
	return nil
}

// best returns the winner so far.
func (l *learner) best() *point { return l.points[l.winner] }

// report describes the points.
func (l *learner) report() Report {
	r := Report{Winner: l.winner, Rows: int64(l.fit.n), HeldOutRows: int64(l.heldOut.n)}
	for _, p := range l.points {
		r.Points = append(r.Points, p.Point)
	}
	return r
}

// learned returns the winner as a result.
func (l *learner) learned() (*Learned, error) {
	if l.best().Kind == ByResidual {
		return l.byResidual()
	}
	f := l.best().features
	importance, err := l.importance(f)
	if err != nil {
		return nil, err
	}
	model, err := l.ridge(f)
	if err != nil {
		return nil, err
	}
	sums := l.sums(scoring.NewBankOf(f))
	order, worth := l.rank(sums, model)
	best := l.best().chosen
	selection := scoring.Selection{Coding: sums.Coding(l.task)}
	scores := sums.Scores(selection.Coding)
	k := l.fit.outputs
	for _, i := range order {
		selection.Index = append(selection.Index, best.Index[i])
		selection.Round = append(selection.Round, best.Round[i])
		selection.Score = append(selection.Score, worth[i])
		selection.S = append(selection.S, scores[int(i)*k:(int(i)+1)*k]...)
	}
	result := &Learned{Selection: selection, Features: f.Pick(order), Report: l.report()}
	result.Report.Importance = importance
	return result, nil
}

// rank orders features by what they contribute to the model of the coded outputs: Σ_k θ_k²·gain_k²·var(φ), equal ones by number.
func (l *learner) rank(sums *scoring.Sums, model *ridgeModel) (order []int32, worth []float64) {
	worth = make([]float64, sums.Candidates())
	n := float64(sums.Rows)
	for i := range worth {
		mean := sums.Phi[i] / n
		variance := max(sums.PhiSq[i]/n-float64(mean*mean), 0)
		for k := range l.fit.outputs {
			w := l.coding.Gain[k] * model.weight(i, k)
			worth[i] += float64(float64(w*w) * variance)
		}
	}
	return scoring.Rank(worth), worth
}

// byResidual chooses once more by residual, from all rows of the sample: the set is that of criterion residual.
func (l *learner) byResidual() (*Learned, error) {
	plain := Plain(l.candidates)
	bank := scoring.NewBank(plain, scoring.BankOptions{})
	whole := &scoring.Sample{X: l.sample.X, Rows: l.sample.Rows, Dim: l.sample.Dim, Targets: l.sample.Targets}
	selection, err := scoring.SelectFrom(bank, l.sums(bank), whole, l.task, l.residual())
	if err != nil {
		return nil, err
	}
	result := &Learned{Selection: selection, Features: bank.Draw(selection.Index), Candidates: &plain, Report: l.report()}
	result.Report.Importance, err = l.importance(result.Features)
	return result, err
}

// residual returns the options for choosing M features by residual.
func (l *learner) residual() scoring.SelectOptions {
	return scoring.SelectOptions{Criterion: scoring.Residual, Features: l.o.Features, Rounds: l.o.Rounds, Workers: l.o.Workers}
}

// sums returns the sums of a bank's candidates over all rows of the sample, by partition and merged in partition order,
// as the stream makes them.
func (l *learner) sums(bank *scoring.Bank) *scoring.Sums {
	s := l.sample
	parts := s.Parts
	if parts == nil {
		parts = []int{s.Rows}
	}
	total, first := scoring.NewSums(bank.Len(), s.Targets.Outputs), 0
	for _, n := range parts {
		total.Merge(accumulate(bank, s.X[first*s.Dim:(first+n)*s.Dim], n, s.Targets.Slice(first, first+n), l.o.Workers))
		first += n
	}
	return total
}

// accumulate returns the sums of rows.
func accumulate(bank *scoring.Bank, x []float32, n int, t scoring.Targets, workers int) *scoring.Sums {
	a := scoring.NewAccumulator(bank, scoring.NewSums(bank.Len(), t.Outputs))
	a.SetWorkers(workers)
	a.Add(x, n, t)
	return a.Sums()
}

package adaptive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
)

// learner learns the features of one member.
type learner struct {
	share
	candidates scoring.Candidates // the member's candidates of the first round of the cosines
	bank       *scoring.Bank      // these candidates
	streamed   *scoring.Sums      // their sums over the rows that are not held out
	sample     *scoring.Sample
	task       scoring.Task
	o          Options

	fit     *rows // training rows
	heldOut *rows // rows on which points are judged
	coding  scoring.Coding

	store     *scoring.FeatureStore // features of the current candidates
	columns   []column              // columns of the training rows, nil until thresholds are drawn
	evaluated *evaluation           // nil until features are evaluated
	last      summed                // the last evaluation
	width     float64               // bandwidth of the training rows, 0 until it is known
	pools     int32                 // number of pools so far, with those of earlier members
	points    []*point              // in the order of measurement
}

// point is features that the guard has measured, with their origins.
type point struct {
	Point
	features *scoring.Features
	origins  []origin           // the origin of each feature
	chosen   *scoring.Selection // in the order of choice; nil for refined features
}

// origin is the draw of a feature: the number of the pool, counted from 1, and of the candidate in
// it.
type origin struct{ pool, index int32 }

// check reports options that do not suit the candidates. It panics on negative numbers and wrong
// shapes.
func (o Options) check(candidates scoring.Candidates) error {
	if o.Rounds < 0 || o.RefineSteps < 0 || o.RefineRounds < 0 || o.Workers < 0 || o.Members < 0 ||
		o.Members > scoring.MaxMembers {
		panic(fmt.Sprintf("adaptive: %d rounds of residual, %d steps and %d rounds of refinement, %d workers, %d members",
			o.Rounds, o.RefineSteps, o.RefineRounds, o.Workers, o.Members))
	}
	criterion := scoring.Adaptive
	if o.ChooseOnly {
		criterion = scoring.Residual
	}
	if err := errors.Join(criterion.Check(candidates), candidates.Validate()); err != nil {
		return err
	}
	switch members := o.members(); {
	case o.Features < 1 || o.Features > candidates.Count:
		return fmt.Errorf("%d features requested from %d candidates", o.Features, candidates.Count)
	case members > 1 && o.ChooseOnly:
		return fmt.Errorf("%d members requested from a criterion that learns nothing", members)
	case members > o.Features:
		return fmt.Errorf("%d members requested for %d features", members, o.Features)
	}
	if o.Columns != nil && len(o.Columns) != candidates.Dim {
		panic(fmt.Sprintf("adaptive: %d columns of %d numbers", len(o.Columns), candidates.Dim))
	}
	return nil
}

// newLearner returns the learner of a member, without its rows.
func newLearner(
	part share,
	candidates scoring.Candidates,
	sums *scoring.Sums,
	sample *scoring.Sample,
	task scoring.Task,
	o Options,
) *learner {
	o.Features = part.features
	l := &learner{
		share:      part,
		candidates: candidates,
		streamed:   sums,
		sample:     sample,
		task:       task,
		o:          o,
		coding:     sums.Coding(task),
		store:      scoring.NewFeatureStore(storeBytes),
		pools:      int32(part.member * o.rounds()),
	}
	if part.next-part.first == candidates.Count {
		l.bank = scoring.NewBank(candidates)
		return l
	}
	l.candidates.Count = part.next - part.first
	l.streamed = sums.Of(part.first, part.next)
	l.bank = scoring.NewBankOf(candidates.DrawRange(part.first, part.next))
	return l
}

// measure judges features and records them as a point. Given their order of choice, it keeps only
// the first ones, as many as the guard decides; nil judges all features together. A loss that is
// not finite counts as the greatest number.
func (l *learner) measure(p *point, order []int32) error {
	if err := l.stopped(); err != nil {
		return err
	}
	v, err := l.judge(p.features, order)
	if err != nil {
		return err
	}
	p.Loss = v.loss
	p.StdErr = v.standardError
	p.Features = v.kept
	if l.o.members() > 1 {
		p.Member = l.member + 1
	}
	if v.kept < p.features.Len() {
		kept := slices.Sorted(slices.Values(order[:v.kept]))
		p.features = p.features.Pick(kept)
		origins := make([]origin, len(kept))
		for i, from := range kept {
			origins[i] = p.origins[from]
		}
		p.origins = origins
	}
	l.points = append(l.points, p)
	if l.o.Progress != nil {
		l.o.Progress(p.Point)
	}
	return nil
}

// stopped returns the error of Options.Stop.
func (l *learner) stopped() error {
	if l.o.Stop == nil {
		return nil
	}
	return l.o.Stop()
}

// best returns the point of least loss, the first among equals, in the given tracks; in all tracks
// if none is given.
func (l *learner) best(tracks ...Track) *point {
	var best *point
	for _, p := range l.points {
		if (len(tracks) == 0 || slices.Contains(tracks, p.Track)) && (best == nil || p.Loss < best.Loss) {
			best = p
		}
	}
	return best
}

// report describes the points.
func (l *learner) report() Report {
	r := Report{Rows: int64(l.fit.n), HeldOutRows: int64(l.heldOut.n)}
	for i, p := range l.points {
		r.Points = append(r.Points, p.Point)
		if p == l.best() {
			r.Winner = i
		}
	}
	return r
}

// learned returns the winner as a result.
func (l *learner) learned() (*Learned, error) {
	best := l.best()
	f := best.features
	result := &Learned{Features: f, Report: l.report()}
	if best.chosen != nil && l.o.ChooseOnly {
		result.Selection = best.chosen.First(f.Len())
		result.Features = l.bank.Draw(result.Selection.Index)
		return result, nil
	}
	bends, err := l.gradients(f)
	if err != nil {
		return nil, err
	}
	model, err := l.ridge(f)
	if err != nil {
		return nil, err
	}
	sums := l.sums(scoring.NewBankOf(f))
	order, worth := l.rank(f, sums, model)
	selection := scoring.Selection{Coding: sums.Coding(l.task)}
	scores := sums.Scores(selection.Coding)
	k := l.fit.outputs
	for _, i := range order {
		selection.Index = append(selection.Index, best.origins[i].index)
		selection.Round = append(selection.Round, best.origins[i].pool)
		selection.Score = append(selection.Score, worth[i])
		selection.S = append(selection.S, scores[int(i)*k:(int(i)+1)*k]...)
	}
	result.Selection, result.Features = selection, f.Pick(order)
	result.Report.Importance = importance(f, bends, worth)
	return result, nil
}

// rank orders features by kind, and within a kind by their contribution to the variance of the
// coded outputs' model, worth = Σ_k θ_k²·gain_k²·var(φ), equal ones by number.
func (l *learner) rank(f *scoring.Features, sums *scoring.Sums, model *ridgeModel) (order []int32, worth []float64) {
	worth = make([]float64, sums.Candidates())
	n := float64(sums.Rows)
	for i := range worth {
		mean := sums.Phi[i] / n
		variance := max(sums.PhiSq[i]/n-float64(mean*mean), 0)
		worth[i] = float64(l.squaredWeight(model, i) * variance)
	}
	order = scoring.Rank(worth)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(f.Kind(int(a)), f.Kind(int(b))) })
	return order, worth
}

// squaredWeight returns Σ_k θ_k² of feature m in the model of the coded outputs.
func (l *learner) squaredWeight(model *ridgeModel, m int) (sum float64) {
	for k, gain := range l.coding.Gain {
		w := gain * model.weight(m, k)
		sum += float64(w * w)
	}
	return sum
}

// sums returns the sums of a bank's candidates over all rows of the sample, by partition and merged
// in partition order, as the stream makes them.
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

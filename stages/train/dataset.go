package train

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// bucket is what a loss needs of some rows: sums for the squared loss, the rows themselves for the logistic one.
type bucket struct {
	sums *training.Sums
	rows *keptRows
}

func (t *Trainer) newBucket() bucket {
	m := t.set.Set.Features.Len()
	if t.share != nil {
		return bucket{rows: &keptRows{Rows: training.NewRows(m, max(2, t.outputs))}}
	}
	return bucket{sums: training.NewSums(m, t.outputs)}
}

// add takes rows; if rows are kept, only those from a level of the [rowShare] on.
func (b bucket) add(rows *rowBuffer, level uint8) {
	if b.rows != nil {
		b.rows.add(rows, level)
		return
	}
	b.sums.Add(rows.z, rows.rows, rows.y)
}

// merge adds the rows of other, each counting weight times, to read them: kept rows are not copied.
func (b bucket) merge(other bucket, weight float64) {
	if b.rows != nil {
		b.rows.Append(other.rows.Rows, weight)
		return
	}
	b.sums.MergeWeighted(other.sums, weight)
}

// settle gives back memory that is needed only while rows are added.
func (b bucket) settle() {
	if b.sums != nil {
		b.sums.Settle()
	}
}

// absorb takes over the rows of other, which is not used any more.
func (b bucket) absorb(other bucket) {
	if b.rows != nil {
		b.rows.AddAll(other.rows.Rows)
		b.rows.levels = append(b.rows.levels, other.rows.levels...)
		return
	}
	b.sums.Merge(other.sums)
}

func (b bucket) len() int64 {
	if b.rows != nil {
		return int64(b.rows.Len())
	}
	return b.sums.Rows
}

// dataset is the rows to fit on and the held-out ones. Rows that the hash would hold out, but from events that the
// features were learned from, are kept apart as seen: which side they go to depends on how many other held-out rows
// there are ([dataset.settle]).
type dataset struct {
	fit, heldOut bucket
	seen         *bucket // nil if nothing was learned
}

func (t *Trainer) newDataset() dataset {
	d := dataset{fit: t.newBucket(), heldOut: t.newBucket()}
	if len(t.learnedFrom) > 0 {
		seen := t.newBucket()
		d.seen = &seen
	}
	return d
}

func (d dataset) add(b *rowBuffers, level uint8) {
	d.fit.add(&b.fit, level)
	d.heldOut.add(&b.heldOut, level)
	if d.seen != nil {
		d.seen.add(&b.seen, level)
	}
}

// kept returns the rows in memory.
func (d dataset) kept() []*keptRows {
	var all []*keptRows
	for _, b := range []bucket{d.fit, d.heldOut} {
		if b.rows != nil {
			all = append(all, b.rows)
		}
	}
	if d.seen != nil && d.seen.rows != nil {
		all = append(all, d.seen.rows)
	}
	return all
}

// merge adds what a cell holds: rows to fit on, which count weight times, and held-out ones if they judge.
func (d dataset) merge(c *cell, weight float64, judges bool) {
	d.fit.merge(c.data.fit, weight)
	if !judges {
		return
	}
	d.heldOut.merge(c.data.heldOut, 1)
	if d.seen != nil {
		d.seen.merge(*c.data.seen, 1)
	}
}

// enoughUnseen is the number of held-out rows from which on rows that the exploration has seen are no longer held out:
// an error of 10 % then has a standard error of 2.
const enoughUnseen = 200

// settle moves the rows that the exploration may have seen to the rows to fit on if enough others are held out,
// otherwise to the held-out ones. It returns how many of them are held out.
func (d dataset) settle() (heldOut int64) {
	switch {
	case d.seen == nil:
		return 0
	case d.heldOut.len() >= enoughUnseen:
		d.fit.merge(*d.seen, 1)
		return 0
	}
	d.heldOut.merge(*d.seen, 1)
	return d.seen.len()
}

// majority is the commonest class of the rows to fit on.
func (d dataset) majority() int32 {
	if d.fit.rows != nil {
		return d.fit.rows.MajorityClass()
	}
	return d.fit.sums.MajorityClass()
}

// solution is the result of a fit, with what only the logistic loss has.
type solution struct {
	*training.Fit
	descents []training.Convergence // for every λ
	last     *wire.Descent
}

func (d dataset) solve(ctx context.Context, o training.Options) (*solution, error) {
	if d.fit.rows == nil {
		found, err := training.Train(d.fit.sums, d.heldOut.sums, o)
		return &solution{Fit: found}, err
	}
	found, err := training.TrainLogistic(ctx, d.fit.rows.Rows, d.heldOut.rows.Rows, o)
	if err != nil {
		return nil, err
	}
	return &solution{Fit: &found.Fit, descents: found.Path, last: describeDescent(found.Last)}, nil
}

func describeDescent(c training.Convergence) *wire.Descent {
	return &wire.Descent{Iterations: c.Iterations, RelativeGradient: c.RelativeGradient, Converged: c.Converged}
}

// path returns every λ and what it was judged by.
func (s *solution) path() []wire.LambdaPoint {
	var points []wire.LambdaPoint
	for i, lambda := range s.Lambdas {
		point := wire.LambdaPoint{Lambda: lambda}
		if i < len(s.HeldOutLoss) {
			point.HeldOutLoss = wire.Measured(s.HeldOutLoss[i])
		}
		if i < len(s.GCV) {
			point.GCV = wire.Measured(s.GCV[i])
		}
		if i < len(s.descents) {
			point.Descent = describeDescent(s.descents[i])
		}
		points = append(points, point)
	}
	return points
}

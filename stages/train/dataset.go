package train

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// bucket holds rows in the form that the loss needs: sums for the squared loss, the rows themselves
// for the logistic loss.
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

// add adds rows. Of the rows of the logistic loss it only keeps those at or above a level of the
// [rowShare].
func (b bucket) add(rows *rowBuffer, level uint8) {
	if b.rows != nil {
		b.rows.add(rows, level)
		return
	}
	b.sums.Add(rows.z, rows.rows, rows.y)
}

// merge adds the rows of other, each counting weight times, for reading. Rows of the logistic loss
// are not copied.
func (b bucket) merge(other bucket, weight float64) {
	if b.rows != nil {
		b.rows.Append(other.rows.Rows, weight)
		return
	}
	b.sums.MergeWeighted(other.sums, weight)
}

// settle releases memory that is needed only while rows are added.
func (b bucket) settle() {
	if b.sums != nil {
		b.sums.Settle()
	}
}

// absorb takes over the rows of other, which becomes invalid.
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

// dataset holds the rows to fit on and the held-out rows. Rows that the hash holds out, but that
// taught the features, are kept separately as seen. [dataset.settle] moves them to either side,
// depending on the number of other held-out rows.
type dataset struct {
	fit, heldOut bucket
	seen         *bucket // nil if no rows taught the features
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

// merge adds the rows of a cell: the rows to fit on, which count weight times, and the held-out
// rows if they judge.
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

// enoughUnseen is the number of unseen held-out rows from which on rows that the exploration has
// seen are no longer held out. An error of 10 % then has a standard error of 2 %.
const enoughUnseen = 200

// settle moves the rows that the exploration may have seen to the rows to fit on if enough others
// are held out, otherwise to the held-out rows. It returns the number of seen rows that are held
// out.
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

// majority returns the commonest class of the rows to fit on.
func (d dataset) majority() int32 {
	if d.fit.rows != nil {
		return d.fit.rows.MajorityClass()
	}
	return d.fit.sums.MajorityClass()
}

// solution is the result of a fit, with the descents of the logistic loss.
type solution struct {
	*training.Fit
	descents []training.Convergence // one for every λ
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

// path returns every λ with its losses.
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

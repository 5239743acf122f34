package compare

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

const (
	// trainParts is how many parts of the training rows are featurized in parallel, and joined in order: a constant,
	// because sums depend on it.
	trainParts = 4
	// blockBytes bounds the features that a goroutine holds.
	blockBytes = 2 << 20
)

// blockRows returns how many rows are featurized at a time.
func blockRows(features int) int { return min(max(blockBytes/(4*features), 1), 4096) }

// featurize calls do with the features of rows first..next-1, block by block; z is row-major and overwritten by the
// next block.
func featurize(ctx context.Context, t *scoring.Transformer, d *rows, first, next int, do func(at int, z []float32)) error {
	step := blockRows(t.Len())
	z := make([]float32, min(step, next-first)*t.Len())
	for at := first; at < next; at += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(step, next-at)
		t.Transform(z[:n*t.Len()], d.x[at*d.dim:(at+n)*d.dim], n)
		do(at, z[:n*t.Len()])
	}
	return nil
}

// inParts featurizes the training rows in trainParts parts in parallel; add takes a row of a part.
func (r *repeat) inParts(ctx context.Context, t *scoring.Transformer, add func(part, row int, z []float32)) error {
	group, ctx := errgroup.WithContext(ctx)
	m := t.Len()
	for part := range trainParts {
		first, next := r.train.rows*part/trainParts, r.train.rows*(part+1)/trainParts
		group.Go(func() error {
			return featurize(ctx, t, r.train, first, next, func(at int, z []float32) {
				for i := range len(z) / m {
					add(part, at+i, z[i*m:(i+1)*m])
				}
			})
		})
	}
	return group.Wait()
}

// half is 0 for a row to fit on and 1 for one to choose λ on.
func half(out bool) int {
	if out {
		return 1
	}
	return 0
}

// sumProducts returns the sums of the training rows to fit on, and of the held-out ones, which out
// marks.
func (r *repeat) sumProducts(ctx context.Context, t *scoring.Transformer, out []bool) (fit, heldOut *training.Sums, err error) {
	var sums [trainParts][2]*training.Sums
	outputs := r.train.outputs
	for i := range sums {
		sums[i] = [2]*training.Sums{training.NewSums(t.Len(), outputs), training.NewSums(t.Len(), outputs)}
	}
	err = r.inParts(ctx, t, func(part, row int, z []float32) {
		sums[part][half(out[row])].Add(z, 1, r.train.y[row*outputs:(row+1)*outputs])
	})
	if err != nil {
		return nil, nil, err
	}
	for _, more := range sums[1:] {
		sums[0][0].Merge(more[0])
		sums[0][1].Merge(more[1])
	}
	return sums[0][0], sums[0][1], nil
}

// keepRows returns the training rows to fit on, and the held-out ones, which out marks, with their
// classes.
func (r *repeat) keepRows(ctx context.Context, t *scoring.Transformer, out []bool) (fit, heldOut *training.Rows, err error) {
	var kept [trainParts][2]*training.Rows
	for i := range kept {
		kept[i] = [2]*training.Rows{training.NewRows(t.Len(), r.train.classes), training.NewRows(t.Len(), r.train.classes)}
	}
	err = r.inParts(ctx, t, func(part, row int, z []float32) {
		kept[part][half(out[row])].Add(z, r.train.class[row:row+1])
	})
	if err != nil {
		return nil, nil, err
	}
	for _, more := range kept[1:] {
		kept[0][0].Append(more[0])
		kept[0][1].Append(more[1])
	}
	return kept[0][0], kept[0][1], nil
}

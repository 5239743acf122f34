package training

import (
	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training/internal/kernel"
	"github.com/eerf-stream/eerf/training/internal/thin"
)

const (
	// batchRows is the number of rows of which logits, then gradient are computed, so that features
	// are read from memory once.
	batchRows = thin.BlockTerms
	// lossParts is the number of parts of the rows. Parts are summed in order. It is lower if the
	// gradients of the parts would take more than partBytes.
	lossParts, partBytes = 32, 128 << 20
)

// softmax is the loss of linear models as a function of their weights x: θ of one column after
// another, each of M weights, then any intercepts. Each class with rows has a column. Two classes
// share one column, the logit of the second class.
//
// With an intercept the model of column k is x_k0 + θ_k·(z − z̄), where z̄ is the mean of the rows
// of the fit, so that intercepts hardly depend on the other weights.
type softmax struct {
	features int
	columns  int
	binary   bool      // the one column is the logit of class 1 against class 0
	column   []int     // of each class, −1 for none
	unseen   []float64 // logits of classes without a column, which only count when rows are judged
	mean     []float64 // z̄, nil without an intercept
	room     []*batch  // memory of each goroutine
}

// total is the result of one pass over rows.
type total struct {
	loss      float64   // Σ −log p of the true class
	curvature float64   // Σ p(1 − p) over rows and columns
	residual  []float64 // Σ (p − y) by column
	gradient  []float64 // [panel][padded M][thin.Columns] Σ (p − y)·z, nil when rows are judged
}

// panels returns the number of thin matrices that hold a value for each column.
func (s *softmax) panels() int { return kernel.RoundUp(s.columns, thin.Columns) / thin.Columns }

func (s *softmax) paddedFeatures() int { return kernel.RoundUp(s.features, thin.TileRows) }

// weights is x in the layout of the loops.
type weights struct {
	theta []float32 // [panel][M][thin.Columns]
	bias  []float64 // [panel·thin.Columns] the logits of z = 0
}

// pack rounds the weights to float32.
func (s *softmax) pack(x []float64) weights {
	w := weights{
		theta: make([]float32, s.panels()*s.features*thin.Columns), bias: make([]float64, s.panels()*thin.Columns),
	}
	for k := range s.columns {
		if s.mean != nil {
			w.bias[k] = x[s.columns*s.features+k]
		}
		for m, v := range x[k*s.features : (k+1)*s.features] {
			rounded := float32(v)
			w.theta[(k/thin.Columns*s.features+m)*thin.Columns+k%thin.Columns] = rounded
			if s.mean != nil {
				w.bias[k] -= float64(float64(rounded) * s.mean[m])
			}
		}
	}
	return w
}

// pass sums the loss over the rows. With fit it also sums the gradient, otherwise it judges the
// rows. The parts of the rows do not depend on the number of goroutines and are summed in order,
// and so neither do the bits of the sum.
func (s *softmax) pass(rows *Rows, x []float64, fit bool) total {
	w := s.pack(x)
	parts := make([]total, s.parts(len(rows.blocks)))
	workers := parallel.Workers(len(parts), 2*rows.rows*s.features*s.panels()*thin.Columns)
	for len(s.room) < workers {
		s.room = append(s.room, newBatch(s))
	}
	parallel.Tasks(workers, len(parts), func(worker, i int) {
		part := s.newTotal(fit) // in memory of its own, away from parts that other goroutines change as often
		for _, block := range rows.blocks[len(rows.blocks)*i/len(parts) : len(rows.blocks)*(i+1)/len(parts)] {
			s.room[worker].add(&part, block, w)
		}
		parts[i] = part
	})
	sum := s.newTotal(fit)
	for _, part := range parts {
		sum.add(part)
	}
	return sum
}

// parts returns the number of parts of a number of blocks of rows.
func (s *softmax) parts(blocks int) int {
	affordable := partBytes / (8 * s.panels() * s.paddedFeatures() * thin.Columns)
	return min(blocks, lossParts, max(affordable, 2))
}

// LogisticBytes bounds the memory of the logistic loss in addition to the rows and the second
// moments: the gradients of the parts, and the points and steps of a descent.
func LogisticBytes(features, classes int) int64 {
	s := softmax{features: features, columns: classes}
	gradient := 8 * int64(s.panels()) * int64(s.paddedFeatures()) * thin.Columns
	vectors := int64(3*memory + maxTrials/2 + 10)
	return gradient*int64(s.parts(lossParts)+1) + 8*vectors*int64(classes)*int64(features+1)
}

func (s *softmax) newTotal(fit bool) total {
	t := total{residual: make([]float64, s.panels()*thin.Columns)}
	if fit {
		t.gradient = make([]float64, s.panels()*s.paddedFeatures()*thin.Columns)
	}
	return t
}

func (t *total) add(part total) {
	t.loss += part.loss
	t.curvature += part.curvature
	for k, v := range part.residual {
		t.residual[k] += v
	}
	for i, v := range part.gradient {
		t.gradient[i] += v
	}
}

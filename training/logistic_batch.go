package training

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/thin"
)

// batch holds the memory with which one goroutine adds batchRows rows at a time to a total.
type batch struct {
	model    *softmax
	logits   []float64 // [panel][batchRows][thin.Columns]
	residual []float32 // [panel][batchRows][thin.Columns] p − y
	f        []float64 // logits of a row
	rows     []float32 // a tile of rows, padded
	last     []float32 // [batchRows][thin.TileRows] last features of the rows, padded
}

func newBatch(s *softmax) *batch {
	values := s.panels() * batchRows * thin.Columns
	return &batch{
		model:    s,
		logits:   make([]float64, values),
		residual: make([]float32, values),
		f:        make([]float64, s.columns),
		rows:     make([]float32, thin.TileRows*s.features),
		last:     make([]float32, batchRows*thin.TileRows),
	}
}

// add adds rows to t.
func (b *batch) add(t *total, rows classRows, w weights) {
	m, panels := b.model.features, b.model.panels()
	for first := 0; first < len(rows.class); first += batchRows {
		next := min(first+batchRows, len(rows.class))
		z, class := rows.z[first*m:next*m], rows.class[first:next]
		for p := range panels {
			b.multiply(p, z, len(class), w)
		}
		b.judge(t, class, rows.weight)
		if t.gradient == nil {
			continue
		}
		for p := range panels {
			b.addGradient(t, p, z, len(class))
		}
	}
}

// multiply computes the logits of one panel of columns.
func (b *batch) multiply(panel int, z []float32, rows int, w weights) {
	m := b.model.features
	logits := b.logits[panel*batchRows*thin.Columns:][:batchRows*thin.Columns]
	for n := range rows {
		copy(logits[n*thin.Columns:][:thin.Columns], w.bias[panel*thin.Columns:])
	}
	theta := w.theta[panel*m*thin.Columns:][:m*thin.Columns]
	for n := 0; n < rows; n += thin.TileRows {
		tile := z[n*m:]
		if rows-n < thin.TileRows {
			copy(b.rows, tile)
			tile = b.rows
		}
		thin.Products(logits[n*thin.Columns:], tile, 1, m, theta, m)
	}
}

// judge turns logits into losses and residuals of rows, each counting weight times.
func (b *batch) judge(t *total, class []int32, weight float64) {
	stride := batchRows * thin.Columns
	for n, c := range class {
		for k := range b.f {
			b.f[k] = b.logits[k/thin.Columns*stride+n*thin.Columns+k%thin.Columns]
		}
		loss, curvature := t.loss, t.curvature
		if b.model.binary {
			t.addBinary(b.f, c)
		} else {
			t.addRow(b.f, b.model.column[c], b.unseenLogits(t))
		}
		if weight != 1 {
			t.loss = loss + float64(weight*(t.loss-loss))
			t.curvature = curvature + float64(weight*(t.curvature-curvature))
			for k := range b.f {
				b.f[k] *= weight
			}
		}
		for k, r := range b.f {
			rounded := float32(r)
			b.residual[k/thin.Columns*stride+n*thin.Columns+k%thin.Columns] = rounded
			t.residual[k] += float64(rounded)
		}
	}
}

// unseenLogits returns the logits of classes without a column, which only count when rows are
// judged.
func (b *batch) unseenLogits(t *total) []float64 {
	if t.gradient != nil {
		return nil
	}
	return b.model.unseen
}

// addBinary replaces the logit of class 1 by p − y.
func (t *total) addBinary(f []float64, class int32) {
	against := f[0] // logit of the other class
	if class == 1 {
		against = -against
	}
	e := math.Exp(-math.Abs(against))
	t.loss += max(against, 0) + math.Log1p(e)
	p := 1 / (1 + e) // of the larger logit
	t.curvature += float64(e * p * p)
	if against < 0 {
		p = e * p
	}
	f[0] = p
	if class == 1 {
		f[0] = -p
	}
}

// addRow replaces the logits of a row by p − y. column belongs to the class of the row, −1 for
// none. unseen are additional logits.
func (t *total) addRow(f []float64, column int, unseen []float64) {
	top := slices.Max(f)
	own := 0.0
	if column >= 0 {
		own = f[column]
	} else {
		own = unseen[0]
	}
	sum := 0.0
	for _, v := range unseen {
		sum += math.Exp(v - top)
	}
	for k, v := range f {
		f[k] = math.Exp(v - top)
		sum += f[k]
	}
	t.loss += top - own + math.Log(sum)
	for k, v := range f {
		p := v / sum
		t.curvature += float64(p * (1 - p))
		f[k] = p
	}
	if column >= 0 {
		f[column]--
	}
}

// addGradient adds the products of the features with the residuals of one panel of columns.
func (b *batch) addGradient(t *total, panel int, z []float32, rows int) {
	m := b.model.features
	residual := b.residual[panel*batchRows*thin.Columns:][:rows*thin.Columns]
	gradient := t.gradient[panel*b.model.paddedFeatures()*thin.Columns:]
	whole := m / thin.TileRows * thin.TileRows
	for j := 0; j < whole; j += thin.TileRows {
		thin.Products(gradient[j*thin.Columns:], z[j:], m, 1, residual, rows)
	}
	if whole == m {
		return
	}
	for n := range rows {
		copy(b.last[n*thin.TileRows:][:thin.TileRows], z[n*m+whole:(n+1)*m])
	}
	thin.Products(gradient[whole*thin.Columns:], b.last, thin.TileRows, 1, residual, rows)
}

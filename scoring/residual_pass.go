package scoring

import (
	"fmt"

	"github.com/eerf-stream/eerf/training"
)

// ResidualScores is the first pass of a round over the rows of one partition: the scores of all candidates against the
// residual of the plan's model, in round 1 against the outputs themselves. The residual of a row is computed in
// float64 from float32 features and rounded to float32 once. It belongs to one goroutine; the sums depend on the order
// of the rows alone.
type ResidualScores struct {
	plan     *ResidualPlan
	sums     *Accumulator
	features rowFeatures
	residual []float32 // reused
}

// NewScores returns the pass of p over a partition, which continues sums as [NewAccumulator] does. It panics when p waits
// for another kind of pass.
func (p *ResidualPlan) NewScores(b *Bank, sums *Sums) *ResidualScores {
	if p.Done || p.Pool != nil {
		panic("scoring: pass for scores of a residual plan that does not wait for them")
	}
	r := &ResidualScores{plan: p, sums: NewAccumulator(b, sums)}
	if len(p.Kept.Index) > 0 {
		r.features = newRowFeatures(b, p.Kept.Index)
	}
	return r
}

// Sums returns the sums so far, not a copy.
func (r *ResidualScores) Sums() *Sums { return r.sums.Sums() }

// Add is [Accumulator.Add].
func (r *ResidualScores) Add(x []float32, rows int, t Targets) {
	if len(r.plan.Kept.Index) == 0 {
		r.sums.Add(x, rows, t)
		return
	}
	t.check(rows, r.plan.outputs())
	r.features.each(x, rows, func(x, phi []float32, first, next int) {
		r.sums.Add(x, next-first, r.subtractModel(phi, next-first, t.slice(first, next)))
	})
}

// subtractModel returns the residuals of rows.
func (r *ResidualScores) subtractModel(phi []float32, rows int, t Targets) Targets {
	outputs, kept := t.Outputs, len(r.plan.Kept.Index)
	r.residual = r.residual[:0]
	for i := range rows {
		own := phi[i*kept : (i+1)*kept]
		for k := range outputs {
			f := r.plan.Intercept[k]
			for j, w := range r.plan.Weight[k*kept : (k+1)*kept] {
				f += float64(w * float64(own[j]))
			}
			r.residual = append(r.residual, float32(float64(t.raw(i, k))-f))
		}
	}
	return Targets{Outputs: outputs, Values: r.residual}
}

// raw returns raw output k of row i.
func (t *Targets) raw(i, k int) float32 {
	if t.Class == nil {
		return t.Values[i*t.Outputs+k]
	}
	if int(t.Class[i]) == k {
		return 1
	}
	return 0
}

// ResidualGram is the second pass of a round over the rows of one partition: the second moments of the kept features, the
// pool and the raw outputs. It belongs to one goroutine; the sums depend on the order of the rows alone.
type ResidualGram struct {
	outputs  int
	sums     *training.Sums
	features rowFeatures
	raw      []float32 // reused
}

// NewGram returns the pass of p over a partition. The bank says what the candidates are and how rows are encoded. It
// panics when p waits for another kind of pass.
func (p *ResidualPlan) NewGram(b *Bank) *ResidualGram {
	if p.Done || p.Pool == nil {
		panic("scoring: pass for a Gram of a residual plan that does not wait for it")
	}
	columns := p.columns()
	return &ResidualGram{
		outputs: p.outputs(), sums: training.NewSums(len(columns), p.outputs()), features: newRowFeatures(b, columns),
	}
}

// Products returns the moments so far.
func (r *ResidualGram) Products() *training.Products { return r.sums.Products() }

// Add adds rows as [Accumulator.Add] does.
func (r *ResidualGram) Add(x []float32, rows int, t Targets) {
	t.check(rows, r.outputs)
	r.features.each(x, rows, func(_, phi []float32, first, next int) {
		r.raw = r.raw[:0]
		for i := first; i < next; i++ {
			for k := range r.outputs {
				r.raw = append(r.raw, t.raw(i, k))
			}
		}
		r.sums.Add(phi, next-first, r.raw)
	})
}

// rowFeatures computes the features of some candidates, a few rows at a time.
type rowFeatures struct {
	transform *Transformer
	phi       []float32
}

// featureRows is how many rows have their features in memory at a time.
const featureRows = 256

func newRowFeatures(b *Bank, index []int32) rowFeatures {
	// Without their candidates, structured features are computed as products like any others: which way is faster differs
	// between processors, and bits must not.
	set := &FeatureSet{
		Features: b.candidates.Draw(index), Index: index, Scale: 1, Score: make([]float64, len(index)),
	}
	return rowFeatures{transform: NewTransformer(set, b.in)}
}

// each calls do for the rows of x, some at a time, with their features.
func (f *rowFeatures) each(x []float32, rows int, do func(x, phi []float32, first, next int)) {
	m, dim := f.transform.Len(), f.transform.Dim()
	if len(x) != rows*dim {
		panic(fmt.Sprintf("scoring: %d numbers for %d rows of %d", len(x), rows, dim))
	}
	if need := min(rows, featureRows) * m; len(f.phi) < need {
		f.phi = make([]float32, need)
	}
	for first := 0; first < rows; first += featureRows {
		next := min(first+featureRows, rows)
		own, phi := x[first*dim:next*dim], f.phi[:(next-first)*m]
		f.transform.Transform(phi, own, next-first)
		do(own, phi, first, next)
	}
}

// SelectResidual chooses m features by the residual criterion for rows in memory, whose labels are t: x is row-major
// [rows·Dim]. rounds 0 means [DefaultRounds]. It fails where [Select] does.
func SelectResidual(b *Bank, x []float32, rows int, t Targets, task Task, m, rounds int) (Selection, error) {
	if m < 1 || m > b.Len() {
		return Selection{}, fmt.Errorf("select features: %d asked of %d candidates, want 1 to %d", m, b.Len(), b.Len())
	}
	plan := NewResidualPlan(m, rounds)
	for !plan.Done {
		var err error
		if plan.Pool == nil {
			pass := plan.NewScores(b, NewSums(b.Len(), t.Outputs))
			pass.Add(x, rows, t)
			plan, err = plan.AfterScores(pass.Sums(), task)
		} else {
			pass := plan.NewGram(b)
			pass.Add(x, rows, t)
			plan, err = plan.AfterGram(pass.Products())
		}
		if err != nil {
			return Selection{}, err
		}
	}
	return plan.Selection(), nil
}

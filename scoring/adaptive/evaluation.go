package adaptive

import (
	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/training"
)

// evaluation holds, over the training rows, features z and the slopes s of those with an ω: their
// derivatives by ωᵀx + b. Both are computed from the same argument.
type evaluation struct {
	last    *summed
	rows    *rows
	workers int
	shape   scoring.KindCounts
	parts   []part
	columns []int     // the column of s of each feature with an ω
	z       []float32 // [N·M]
	s       *training.Tall
	sloped  bool // s holds the slopes of the last evaluation
}

// part is the cosines or the ramps. The slopes of each begin at a panel of s, with columns of zeros
// in between.
type part struct {
	m           kernel.Map
	first, next int // its features
	panel       int // its first panel of s
	panels      *kernel.Panels
}

// The panels of both packages must have the same width: one writes the slopes, the other multiplies
// them.
var _ = [1]struct{}{}[kernel.Width-training.PanelColumns]

// evaluation returns the memory for features of the same shape as f. Its users take turns.
func (l *learner) evaluation(f *scoring.Features) *evaluation {
	if l.evaluated == nil || l.evaluated.shape != f.Kinds() {
		l.evaluated = nil // free the old memory first
		l.evaluated = newEvaluation(l, f)
	}
	return l.evaluated
}

func newEvaluation(l *learner, f *scoring.Features) *evaluation {
	n := f.Kinds()
	e := &evaluation{last: &l.last, rows: l.fit, workers: l.o.Workers, shape: n, z: make([]float32, l.fit.n*f.Len())}
	panels := 0
	for _, p := range []part{
		{m: kernel.Cosine, next: n.Cosine}, {m: kernel.Ramp, first: n.Cosine, next: n.Cosine + n.Ramp},
	} {
		if p.first == p.next {
			continue
		}
		p.panel, p.panels = panels, kernel.Pack(p.m, f.Dim, f.Omega[p.first*f.Dim:p.next*f.Dim], f.Phase[p.first:p.next])
		panels += p.panels.Count()
		for i := range p.next - p.first {
			e.columns = append(e.columns, p.panel*kernel.Width+i)
		}
		e.parts = append(e.parts, p)
	}
	if panels > 0 {
		e.s = training.NewTall(l.fit.n, panels*kernel.Width)
	}
	return e
}

// share divides the rows among goroutines.
func (e *evaluation) share(work func(first, next int)) {
	const chunk = 256
	parallel.On(e.workers, e.rows.n, chunk, work)
}

// fill sets z and s for features f, and returns the moments of z and the raw outputs. It sums a few
// rows at a time, while their features are in the cache.
func (e *evaluation) fill(f *scoring.Features) *training.Sums {
	m := f.Len()
	d := f.Dim
	k := e.rows.outputs
	for _, p := range e.parts {
		p.panels.Repack(f.Omega[p.first*d:p.next*d], f.Phase[p.first:p.next])
	}
	products := f.PackProducts()
	sums := training.NewSums(m, k)
	sums.Workers = e.workers
	for from := 0; from < e.rows.n; from += scoring.BlockRows {
		to := min(from+scoring.BlockRows, e.rows.n)
		parallel.On(e.workers, to-from, scoring.BlockRows/8, func(first, next int) {
			first, next = from+first, from+next
			x, z := e.rows.x[first*d:next*d], e.z[first*m:next*m]
			for _, p := range e.parts {
				kernel.Slopes(z[p.first:], m, e.slopes(p.panel, first), e.stride(), p.panels, x)
			}
			if products.Len > 0 {
				kernel.Set{products}.Featurize(z[m-products.Len:], m, x, nil)
			}
		})
		sums.Add(e.z[from*m:to*m], to-from, e.rows.y[from*k:to*k])
	}
	e.last.keep(f, sums)
	e.sloped = true
	return sums
}

// summed is the last evaluated features and their moments.
type summed struct {
	features *scoring.Features
	sums     *training.Sums
}

// keep remembers the moments of f.
func (s *summed) keep(f *scoring.Features, sums *training.Sums) { s.features, s.sums = f.Clone(), sums }

// of returns the moments of f, or nil if other features were evaluated last.
func (s *summed) of(f *scoring.Features) *training.Sums {
	if s.features != nil && s.features.Equal(f) {
		return s.sums
	}
	return nil
}

// slopes returns s from row first of the given panel on; its panels are stride numbers apart.
func (e *evaluation) slopes(panel, first int) []float32 {
	return e.s.Data[panel*e.stride()+first*kernel.Width:]
}

func (e *evaluation) stride() int { return e.rows.n * kernel.Width }

package adaptive

import (
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/training"
)

// evaluation holds features z and their slopes s = −sin(Ωx + b) over the rows learned from, both computed from one
// argument.
type evaluation struct {
	last    *summed
	rows    *rows
	workers int
	panels  *kernel.Panels
	z       []float32 // [N·M]
	s       *training.Tall
}

// Panels of both packages are alike: slopes are written to the ones and multiplied from the others.
var _ = [1]struct{}{}[kernel.Width-training.PanelColumns]

// evaluation returns the memory for M features like f. One user follows another.
func (l *learner) evaluation(f *scoring.Features) *evaluation {
	if l.evaluated == nil {
		l.evaluated = &evaluation{
			last: &l.last, rows: l.fit, workers: l.o.Workers, panels: kernel.Pack(kernel.Cosine, f.Dim, f.Omega, f.Phase),
			z: make([]float32, l.fit.n*f.Len()), s: training.NewTall(l.fit.n, f.Len()),
		}
	}
	return l.evaluated
}

// share divides the rows among goroutines.
func (e *evaluation) share(work func(first, next int)) {
	const chunk = 256
	parallel.On(e.workers, e.rows.n, chunk, work)
}

// fill sets z and s to those of features f, and returns the moments of z and the raw outputs. It sums a few rows at a
// time, while their features are in the cache.
func (e *evaluation) fill(f *scoring.Features) *training.Sums {
	m, d, k := f.Len(), f.Dim, e.rows.outputs
	e.panels.Repack(f.Omega, f.Phase)
	sums := training.NewSums(m, k)
	sums.Workers = e.workers
	for from := 0; from < e.rows.n; from += scoring.BlockRows {
		to := min(from+scoring.BlockRows, e.rows.n)
		parallel.On(e.workers, to-from, scoring.BlockRows/8, func(first, next int) {
			first, next = from+first, from+next
			kernel.Slopes(e.z[first*m:next*m], e.slopes(first), e.stride(), e.panels, e.rows.x[first*d:next*d])
		})
		sums.Add(e.z[from*m:to*m], to-from, e.rows.y[from*k:to*k])
	}
	e.last.keep(f, sums)
	return sums
}

// summed is the last evaluated features and their moments.
type summed struct {
	omega, phase []float32
	sums         *training.Sums
}

// keep remembers the moments of f.
func (s *summed) keep(f *scoring.Features, sums *training.Sums) {
	s.omega, s.phase, s.sums = append(s.omega[:0], f.Omega...), append(s.phase[:0], f.Phase...), sums
}

// of returns the moments of f, or nil if the last features were others.
func (s *summed) of(f *scoring.Features) *training.Sums {
	if slices.Equal(s.omega, f.Omega) && slices.Equal(s.phase, f.Phase) {
		return s.sums
	}
	return nil
}

// slopes are the panels of s from a row on, stride numbers apart.
func (e *evaluation) slopes(first int) []float32 { return e.s.Data[first*kernel.Width:] }

func (e *evaluation) stride() int { return e.rows.n * kernel.Width }

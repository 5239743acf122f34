package adaptive

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// gradients is the average gradient outer product G [d×d] of a model, in a form that multiplies by its powers.
type gradients struct {
	dim      int
	diagonal []float64 // of G, [d]
	values   []float64 // eigenvalues over the largest, falling, those above floor
	vectors  []float64 // their eigenvectors, [len(values)·d]
}

// floor is added to the eigenvalues of G, divided by the largest, and to its diagonal, divided by its greatest number,
// so that no direction is left out.
const floor = 1e-4

// gradients returns G of the ridge model on features: G = Ωᵀ W Ω with W = E[s sᵀ] ∘ ΘΘᵀ and the slopes s = −sin(Ωx + b).
func (l *learner) gradients(f *scoring.Features) (*gradients, error) {
	w, err := l.weightedSlopes(f)
	if err != nil {
		return nil, err
	}
	g := &gradients{dim: f.Dim, diagonal: make([]float64, f.Dim)}
	m, d := f.Len(), f.Dim
	half := make([]float64, m*d) // W Ω
	for i := range m {
		own := half[i*d : (i+1)*d]
		for j := range m {
			addScaled(own, w[i*m+j], f.Omega[j*d:(j+1)*d])
		}
	}
	for i := range m {
		for j, v := range half[i*d : (i+1)*d] {
			g.diagonal[j] += float64(v * float64(f.Omega[i*d+j]))
		}
	}
	for j, v := range g.diagonal {
		g.diagonal[j] = max(v, 0)
	}
	if d <= m {
		g.decompose(f, half)
	} else {
		g.decomposeWide(f, w)
	}
	return g, nil
}

// addScaled adds w times x to dst.
func addScaled(dst []float64, w float64, x []float32) {
	for j, v := range x {
		dst[j] += float64(w * float64(v))
	}
}

// weightedSlopes returns W, [M·M].
func (l *learner) weightedSlopes(f *scoring.Features) ([]float64, error) {
	e := l.evaluation(f)
	fitted, _, err := e.fill(f).Ridge(ridgeLevel, 0)
	if err != nil {
		return nil, err
	}
	model := &ridgeModel{fitted}
	m, n := f.Len(), float64(l.fit.n)
	w := make([]float64, m*m)
	crosser := training.Crosser{Workers: l.o.Workers}
	crosser.Square(w, e.s)
	for i := range m {
		for j := range i + 1 {
			both := 0.0
			for k, gain := range l.coding.Gain {
				both += float64(float64(gain*model.weight(i, k)) * float64(gain*model.weight(j, k)))
			}
			v := float64(w[i*m+j] / n * both)
			w[i*m+j], w[j*m+i] = v, v
		}
	}
	return w, nil
}

// wrap returns an angle in [0, 2π) as float32.
func wrap(b float64) float32 {
	b -= float64(2 * math.Pi * math.Floor(b/(2*math.Pi)))
	if v := float32(b); float64(v) < 2*math.Pi && v >= 0 {
		return v
	}
	return 0
}

// decompose finds eigenvalues and eigenvectors of G as a d×d matrix; half is W Ω.
func (g *gradients) decompose(f *scoring.Features, half []float64) {
	d := g.dim
	a := make([]float64, d*d)
	for i := range f.Len() {
		for j, v := range f.Omega[i*d : (i+1)*d] {
			if v == 0 {
				continue
			}
			for c, h := range half[i*d : (i+1)*d] {
				a[j*d+c] += float64(float64(v) * h)
			}
		}
	}
	values, vectors := eigen(a, d)
	g.keep(values, func(i int, dst []float64) { copy(dst, vectors[i*d:(i+1)*d]) })
}

// decomposeWide finds them from an M×M matrix: with W = LLᵀ and T = LᵀΩ, G = TᵀT has the eigenvalues of TTᵀ.
func (g *gradients) decomposeWide(f *scoring.Features, w []float64) {
	m, d := f.Len(), g.dim
	l := factor(w, m)
	t := make([]float64, m*d)
	for i := range m {
		for j := i; j < m; j++ {
			if v := l[j*m+i]; v != 0 {
				addScaled(t[i*d:(i+1)*d], v, f.Omega[j*d:(j+1)*d])
			}
		}
	}
	a := make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			v := dot(t[i*d:(i+1)*d], t[j*d:(j+1)*d])
			a[i*m+j], a[j*m+i] = v, v
		}
	}
	values, vectors := eigen(a, m)
	g.keep(values, func(i int, dst []float64) {
		for j, v := range vectors[i*m : (i+1)*m] {
			for c, u := range t[j*d : (j+1)*d] {
				dst[c] += float64(v * u)
			}
		}
		length := math.Sqrt(dot(dst, dst))
		for c := range dst {
			dst[c] /= length
		}
	})
}

// keep keeps the eigenvalues that stand out from the floor, largest first, with their vectors.
func (g *gradients) keep(values []float64, vector func(i int, dst []float64)) {
	const negligible = 1e-10
	order := scoring.Rank(values)
	largest := values[order[0]]
	for _, i := range order {
		if !(values[i] > float64(negligible*largest)) {
			break
		}
		g.values = append(g.values, values[i]/largest)
		g.vectors = append(g.vectors, make([]float64, g.dim)...)
		vector(int(i), g.vectors[len(g.vectors)-g.dim:])
	}
}

// power is a power of a number, computed by square roots, which round the same everywhere.
type power func(v float64) float64

func quarter(v float64) float64 { return math.Sqrt(math.Sqrt(v)) }

// spread returns √(diag G/greatest + floor).
func (g *gradients) spread() []float64 {
	s, greatest := make([]float64, g.dim), slices.Max(g.diagonal)
	for j, v := range g.diagonal {
		if greatest > 0 {
			s[j] = v / greatest
		}
		s[j] = math.Sqrt(s[j] + floor)
	}
	return s
}

// importance is the share of each column in the diagonal of G, nil if that is zero.
func (l *learner) importance(f *scoring.Features) ([]float64, error) {
	g, err := l.gradients(f)
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for _, v := range g.diagonal {
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, nil
	}
	for j := range g.diagonal {
		g.diagonal[j] /= sum
	}
	return g.diagonal, nil
}

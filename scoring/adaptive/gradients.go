package adaptive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

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
	m, d := f.Len(), f.Dim
	omega := mat.NewDense(m, d, nil)
	for i, v := range f.Omega {
		omega.Set(i/d, i%d, float64(v))
	}
	var half mat.Dense // W Ω
	half.Mul(w, omega)
	g := &gradients{dim: d, diagonal: make([]float64, d)}
	for j := range g.diagonal {
		g.diagonal[j] = max(mat.Dot(omega.ColView(j), half.ColView(j)), 0)
	}
	if d <= m {
		return g, g.decompose(omega, &half)
	}
	return g, g.decomposeWide(w, omega)
}

// weightedSlopes returns W.
func (l *learner) weightedSlopes(f *scoring.Features) (*mat.SymDense, error) {
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
			w[j*m+i] = float64(w[i*m+j] / n * both)
		}
	}
	return mat.NewSymDense(m, w), nil
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
func (g *gradients) decompose(omega, half *mat.Dense) error {
	var a mat.Dense
	a.Mul(omega.T(), half)
	values, vectors, err := eigen(symmetric(&a))
	if err == nil {
		g.keep(values, vectors)
	}
	return err
}

// decomposeWide finds them from a matrix of at most M×M: with W = LLᵀ and T = LᵀΩ, G = TᵀT has the eigenvalues of TTᵀ,
// and Tᵀv is an eigenvector of G for every one of TTᵀ.
func (g *gradients) decomposeWide(w *mat.SymDense, omega *mat.Dense) error {
	t := factorTimes(w, omega)
	var a mat.SymDense
	a.SymOuterK(1, t)
	values, short, err := eigen(&a)
	if err != nil {
		return err
	}
	var vectors mat.Dense
	vectors.Mul(t.T(), short)
	g.keep(values, &vectors)
	return nil
}

// keep keeps the eigenvalues that stand out from the floor, largest first, with their vectors, the columns, at length 1.
func (g *gradients) keep(values []float64, vectors *mat.Dense) {
	const negligible = 1e-10
	order := scoring.Rank(values)
	largest := values[order[0]]
	for _, i := range order {
		if !(values[i] > negligible*largest) {
			break
		}
		column := vectors.ColView(int(i))
		length := mat.Norm(column, 2)
		g.values = append(g.values, values[i]/largest)
		for j := range g.dim {
			g.vectors = append(g.vectors, column.AtVec(j)/length)
		}
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

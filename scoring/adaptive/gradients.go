package adaptive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// gradients is the average gradient outer product G [d×d] of a model, decomposed to multiply by its
// powers.
type gradients struct {
	dim      int
	diagonal []float64 // of G, [d]
	products []float64 // c, [d]: the contribution of hinges and boxes by the coordinates of their factors
	values   []float64 // eigenvalues divided by the largest, falling; negligible ones are omitted
	vectors  []float64 // their eigenvectors, [len(values)·d]
}

// floor is added to the eigenvalues of G, divided by the largest, and to its diagonal, divided by
// its greatest number, so that every direction keeps some weight.
const floor = 1e-4

// gradients returns G of the ridge model on features with an ω, G = Ωᵀ W Ω with W = E[s sᵀ] ∘ ΘΘᵀ
// and slopes s, and the contribution of the other features.
func (l *learner) gradients(f *scoring.Features) (*gradients, error) {
	e := l.evaluation(f)
	sums := l.last.of(f)
	if sums == nil || !e.sloped {
		sums = e.fill(f)
	}
	fitted, _, err := sums.Ridge(ridgeLevel, 0)
	if err != nil {
		return nil, err
	}
	model := &ridgeModel{fitted}
	p, d := f.Projections(), f.Dim
	g := &gradients{dim: d, diagonal: make([]float64, d)}
	if g.products, err = l.productShares(f, sums, model); err != nil || p == 0 {
		return g, err
	}
	w := l.weightedSlopes(e, model)
	omega := mat.NewDense(p, d, nil)
	for i, v := range f.Omega {
		omega.Set(i/d, i%d, float64(v))
	}
	var half mat.Dense // W Ω
	half.Mul(w, omega)
	for j := range g.diagonal {
		g.diagonal[j] = max(mat.Dot(omega.ColView(j), half.ColView(j)), 0)
	}
	if d <= p {
		return g, g.decompose(omega, &half)
	}
	return g, g.decomposeWide(w, omega)
}

// productShares returns c_j = Σ (Σ_k Θ_mk²) var(z_m)/q_m over the hinges and boxes m that have a
// factor on coordinate j.
func (l *learner) productShares(f *scoring.Features, sums *training.Sums, model *ridgeModel) ([]float64, error) {
	c := make([]float64, f.Dim)
	moments, err := sums.Covariances()
	if err != nil {
		return nil, err
	}
	for i, product := range f.Products {
		m := f.Projections() + i
		share := float64(l.squaredWeight(model, m)*max(moments.Cov(m, m), 0)) / float64(product.Order)
		for _, j := range product.Coordinate[:product.Order] {
			c[j] += share
		}
	}
	return c, nil
}

// weightedSlopes returns W.
func (l *learner) weightedSlopes(e *evaluation, model *ridgeModel) *mat.SymDense {
	p := len(e.columns)
	all := e.s.Columns
	n := float64(l.fit.n)
	squares, w := make([]float64, all*all), make([]float64, p*p)
	crosser := training.Crosser{Workers: l.o.Workers}
	crosser.Square(squares, e.s)
	for i, row := range e.columns {
		for j, column := range e.columns[:i+1] {
			both := 0.0
			for k, gain := range l.coding.Gain {
				both += float64(float64(gain*model.weight(i, k)) * float64(gain*model.weight(j, k)))
			}
			w[j*p+i] = float64(squares[column*all+row] / n * both)
		}
	}
	return mat.NewSymDense(p, w)
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

// decomposeWide finds the same from a matrix of at most M×M: with W = LLᵀ and T = LᵀΩ, G = TᵀT has
// the eigenvalues of TTᵀ, and Tᵀv is an eigenvector of G for every eigenvector v of TTᵀ.
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

// keep stores the eigenvalues that are not negligible, largest first, and their eigenvectors, the
// columns of vectors, at length 1.
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

// power raises a number to a power by square roots, which round the same everywhere.
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

// importance returns the share of each column in the variation of the model, [d]: by the diagonal
// of G for features with an ω and by c for hinges and boxes, each weighted by the variance that
// these features contribute. It is nil if nothing varies.
func importance(f *scoring.Features, g *gradients, worth []float64) []float64 {
	var varies [2]float64
	for i, v := range worth {
		if i < f.Projections() {
			varies[0] += v
		} else {
			varies[1] += v
		}
	}
	share, total := make([]float64, g.dim), 0.0
	for i, part := range [][]float64{g.diagonal, g.products} {
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		if !(sum > 0) || !(varies[i] > 0) {
			continue
		}
		for j, v := range part {
			share[j] += float64(v / sum * varies[i])
		}
		total += varies[i]
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return nil
	}
	for j := range share {
		share[j] /= total
		if math.IsNaN(share[j]) {
			return nil
		}
	}
	return share
}

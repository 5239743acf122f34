package adaptive

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
	"github.com/eerf-stream/eerf/training"
)

// objective is what the refinement minimises over frequencies and phases, the weights Θ and intercepts θ₀ at their least:
//
//	J(Ω, b) = min (1/N) Σ_n |Θᵀz_n + θ₀ − y_n|² + λ|Θ|²
//
// with the coded outputs y. The gradient is exact since Θ and θ₀ are at the minimum, e_n = Θᵀz_n + θ₀ − y_n:
//
//	∂J/∂ω_m = (2/N) Σ_n (Σ_k e_nk Θ_mk) s_nm x_n      ∂J/∂b_m = (2/N) Σ_n (Σ_k e_nk Θ_mk) s_nm
type objective struct {
	*evaluation                   // its slopes become the factors of x_n
	gain        []float64         // of the coding
	features    *scoring.Features // as they are evaluated
	scale       float64           // of λ, from the first evaluation
	e           []float32         // residuals, [N·K]
	theta       []float64         // weights of the coded outputs, [K·M]
	weights     []float32         // the same, packed
	x           *training.Tall    // (x_n, 1)
	crosser     training.Crosser
	totals      []float64 // Σ_n (Σ_k e_nk Θ_mk) s_nm (x_n, 1), [M·(d+1)]
}

// newObjective returns the objective of as many features as f has.
func newObjective(l *learner, f *scoring.Features) *objective {
	n, d, m := l.fit.n, f.Dim, f.Len()
	o := &objective{
		evaluation: l.evaluation(f), gain: l.coding.Gain, features: copyOf(f),
		e: make([]float32, n*l.fit.outputs), theta: make([]float64, m*l.fit.outputs),
		x: training.NewTall(n, d+1), crosser: training.Crosser{Workers: l.o.Workers}, totals: make([]float64, m*(d+1)),
	}
	row := make([]float32, d+1)
	row[d] = 1
	for i := range n {
		copy(row, l.fit.x[i*d:(i+1)*d])
		o.x.SetRows(i, row)
	}
	return o
}

// at returns the features at parameters p, Ω and then b: frequencies in float32, phases in [0, 2π), as they would be
// published.
func (o *objective) at(p []float64) *scoring.Features {
	f := o.features
	for i := range f.Omega {
		f.Omega[i] = portable.Narrow(p[i])
	}
	for i := range f.Phase {
		f.Phase[i] = wrap(p[len(f.Omega)+i])
	}
	return f
}

// value returns J at parameters p and sets gradient. J is +Inf if p, or what follows from it, is not finite.
func (o *objective) value(gradient, p []float64) (float64, error) {
	if size := floats.Dot(p, p); math.IsNaN(size) || math.IsInf(size, 0) {
		return math.Inf(1), nil
	}
	fitted, scale, err := o.fill(o.at(p)).Ridge(ridgeLevel, o.scale)
	if errors.Is(err, training.ErrNotFinite) {
		return math.Inf(1), nil
	}
	if err != nil {
		return 0, err
	}
	model := &ridgeModel{fitted}
	o.scale = scale
	o.residuals(model)
	value := o.code(model)
	o.weigh()
	o.collect(gradient)
	return value, nil
}

// residuals sets e to those of the raw outputs.
func (o *objective) residuals(model *ridgeModel) {
	m, k := model.Features, o.rows.outputs
	o.share(func(first, next int) {
		own := o.e[first*k : next*k]
		model.Predict(own, o.z[first*m:next*m], next-first)
		for i, y := range o.rows.y[first*k : next*k] {
			own[i] -= y
		}
	})
}

// code converts residuals and weights to those of the coded outputs, and returns J.
func (o *objective) code(model *ridgeModel) float64 {
	sum := 0.0
	for i := 0; i < len(o.e); i += len(o.gain) {
		for k, gain := range o.gain {
			e := float64(gain * float64(o.e[i+k]))
			o.e[i+k] = float32(e)
			sum += float64(e * e)
		}
	}
	sum /= float64(o.rows.n)
	for i, w := range model.Theta {
		w = float64(w * o.gain[i/model.Features])
		o.theta[i] = w
		sum += float64(model.Lambda * float64(w*w))
	}
	return sum
}

// weigh multiplies the slopes by Σ_k e_nk Θ_mk.
func (o *objective) weigh() {
	k := o.rows.outputs
	o.weights = kernel.PackWeights(o.weights, o.theta, o.s.Columns, k)
	o.share(func(first, next int) {
		kernel.Weigh(o.slopes(first), o.stride(), o.e[first*k:next*k], o.weights, k)
	})
}

// collect sets the gradient from the weighted slopes and the rows.
func (o *objective) collect(gradient []float64) {
	o.crosser.Cross(o.totals, o.s, o.x)
	m, d := o.s.Columns, o.rows.dim
	scale := 2 / float64(o.rows.n)
	for j := range m {
		own := o.totals[j*(d+1) : (j+1)*(d+1)]
		for i, v := range own[:d] {
			gradient[j*d+i] = scale * v
		}
		gradient[m*d+j] = scale * own[d]
	}
}

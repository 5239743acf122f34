package adaptive

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
	"github.com/eerf-stream/eerf/training"
)

// objective is the function of frequencies and phases that the refinement minimises, with the
// weights Θ and intercepts θ₀ at their minimum:
//
//	J(Ω, b) = min (1/N) Σ_n |Θᵀz_n + θ₀ − y_n|² + λ|Θ|²
//
// with the coded outputs y. Since Θ and θ₀ are at the minimum, the gradient has no terms for them
// (Golub and Pereyra 1973). With e_n = Θᵀz_n + θ₀ − y_n:
//
//	∂J/∂ω_m = (2/N) Σ_n (Σ_k e_nk Θ_mk) s_nm x_n      ∂J/∂b_m = (2/N) Σ_n (Σ_k e_nk Θ_mk) s_nm
//
// The parameters of a hinge with factors v_a and signs s_a are its thresholds t_a:
//
//	∂J/∂t_a = −(2/N) Σ_n (Σ_k e_nk Θ_mk) s_a 1[v_na > 0] Π_{a'≠a} v_na'
type objective struct {
	*evaluation                   // its slopes become the factors of x_n
	gain        []float64         // gains of the coding
	features    *scoring.Features // features at the current parameters
	scale       float64           // scale of λ, from the first evaluation
	e           []float32         // residuals, [N·K]
	theta       []float64         // weights of the coded outputs, [K·M]
	spread      []float64         // the same of features with an ω, by columns of s
	weights     []float32         // spread, packed
	x           *training.Tall    // (x_n, 1)
	crosser     training.Crosser
	totals      []float64 // Σ_n (Σ_k e_nk Θ_mk) s_nm (x_n, 1), [columns of s·(d+1)]
}

// newObjective returns the objective for features of the same shape as f.
func newObjective(l *learner, f *scoring.Features) *objective {
	n := l.fit.n
	d := f.Dim
	m := f.Len()
	o := &objective{
		evaluation: l.evaluation(f), gain: l.coding.Gain, features: f.Clone(),
		e:       make([]float32, n*l.fit.outputs),
		theta:   make([]float64, m*l.fit.outputs),
		crosser: training.Crosser{Workers: l.o.Workers},
	}
	if o.s == nil {
		return o
	}
	o.spread, o.totals = make([]float64, o.s.Columns*l.fit.outputs), make([]float64, o.s.Columns*(d+1))
	o.x = training.NewTall(n, d+1)
	row := make([]float32, d+1)
	row[d] = 1
	for i := range n {
		copy(row, l.fit.x[i*d:(i+1)*d])
		o.x.SetRows(i, row)
	}
	return o
}

// at returns the features at parameters p, in the order of [parameters], as they would be
// published: in float32, with phases of cosines in [0, 2π).
func (o *objective) at(p []float64) *scoring.Features {
	f := o.features
	for i := range f.Omega {
		f.Omega[i] = portable.Narrow(p[i])
	}
	p = p[len(f.Omega):]
	for i := range f.Phase {
		f.Phase[i] = portable.Narrow(p[i])
		if i < o.shape.Cosine {
			f.Phase[i] = wrap(p[i])
		}
	}
	p = p[len(f.Phase):]
	for i := range o.shape.Hinge {
		for a := range f.Products[i].Order {
			f.Products[i].Threshold[a] = portable.Narrow(p[0])
			p = p[1:]
		}
	}
	return f
}

// value returns J at parameters p and sets gradient. J is +Inf if p or the moments of its features
// are not finite.
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

// residuals sets e to the residuals of the raw outputs.
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

// code converts residuals and weights to the coding of the outputs, and returns J.
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
	if o.s == nil {
		return
	}
	o.sloped = false
	k, m := o.rows.outputs, o.features.Len()
	for i, column := range o.columns {
		for output := range k {
			o.spread[output*o.s.Columns+column] = o.theta[output*m+i]
		}
	}
	o.weights = kernel.PackWeights(o.weights, o.spread, o.s.Columns, k)
	o.share(func(first, next int) {
		kernel.Weigh(o.slopes(0, first), o.stride(), o.e[first*k:next*k], o.weights, k)
	})
}

// collect sets the gradient from the weighted slopes and the rows.
func (o *objective) collect(gradient []float64) {
	p, d := len(o.columns), o.rows.dim
	scale := 2 / float64(o.rows.n)
	if p > 0 {
		o.crosser.Cross(o.totals, o.s, o.x)
	}
	for j, column := range o.columns {
		own := o.totals[column*(d+1) : (column+1)*(d+1)]
		for i, v := range own[:d] {
			gradient[j*d+i] = scale * v
		}
		gradient[p*d+j] = scale * own[d]
	}
	o.thresholds(gradient[p*(d+1):])
}

// thresholds sets the gradient for the thresholds of the hinges. With the residuals as outputs, the
// scores of the hinges' slopes are Σ_n e_nk 1[v_na > 0] Π_{a'≠a} v_na'.
func (o *objective) thresholds(gradient []float64) {
	slopes := o.features.PackSlopes()
	n, k := slopes.Len, o.rows.outputs
	sums := kernel.Sums{Phi: make([]float64, n), PhiSq: make([]float64, n), YPhi: make([]float64, n*k), Stride: n}
	const chunk = 2 // panels that share one transposition of the rows
	parallel.On(o.workers, slopes.Count(), chunk, func(first, next int) {
		kernel.Score(sums, slopes, first, next, o.rows.x, kernel.Targets{Outputs: k, Values: o.e})
	})
	at := 0
	for i := range o.shape.Hinge {
		hinge, m := &o.features.Products[i], len(o.columns)+i
		for _, sign := range hinge.Sign[:hinge.Order] {
			sum := 0.0
			for output := range k {
				sum += float64(o.theta[output*o.features.Len()+m] * sums.YPhi[output*n+at])
			}
			gradient[at] = -2 / float64(o.rows.n) * float64(sign) * sum
			at++
		}
	}
}

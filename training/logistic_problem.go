package training

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/thin"
)

// logistic is the problem for one set of rows: J(x) = (1/N) Σ loss + λ‖θ‖² for any λ.
type logistic struct {
	*softmax
	moments *system // of the features, for the preconditioner and the scale of λ
	rows    *Rows
	budget  *Budget
	prior   []float64 // rows of each class

	start      []float64 // x of the constant model
	startSlope []float64 // gradient at start, which does not depend on λ
}

func newLogistic(rows *Rows, o Options) (*logistic, error) {
	o.Budget.Spend(float64(rows.Len()) * MergeSeconds(rows.features, 1) / perVectorTerm * perProduct)
	sys, err := newSystem(rows.sums().gram.Settled(), o.Intercept)
	if err != nil {
		return nil, err
	}
	p := &logistic{
		budget:  o.Budget,
		moments: sys,
		rows:    rows,
		prior:   rows.counts(),
		softmax: &softmax{features: rows.features},
	}
	p.chooseColumns()
	if o.Intercept {
		p.mean = sys.zMean
	}
	p.start = p.constant()
	p.startSlope = make([]float64, len(p.start))
	p.evaluate(p.start, p.startSlope, 0)
	return p, nil
}

// chooseColumns gives a column to each class. With an intercept, the fit would drive a class
// without rows to −∞. Such a class gets no column but the logit −log 2N: N rows against half a row
// of its own. With two classes the other one gets none either.
func (p *logistic) chooseColumns() {
	p.column = make([]int, len(p.prior))
	for class, n := range p.prior {
		p.column[class] = p.columns
		if n == 0 && p.moments.intercept {
			p.column[class] = -1
			p.unseen = append(p.unseen, -math.Log(2*p.rows.weight()))
			continue
		}
		p.columns++
	}
	if p.columns == 2 && len(p.prior) == 2 {
		p.binary, p.columns = true, 1
	}
}

// constant returns the best model that ignores all features.
func (p *logistic) constant() []float64 {
	weights := p.columns * p.features
	if !p.moments.intercept {
		return make([]float64, weights)
	}
	x := make([]float64, weights+p.columns)
	if p.binary {
		x[weights] = math.Log(p.prior[1]) - math.Log(p.prior[0])
		return x
	}
	mean := 0.0
	for class, n := range p.prior {
		if column := p.column[class]; column >= 0 {
			x[weights+column] = math.Log(n)
			mean += x[weights+column] / float64(p.columns)
		}
	}
	for k := range p.columns {
		x[weights+k] -= mean
	}
	return x
}

// from turns an answer of another problem, with some of the rows of p, into an answer of p.
func (p *logistic) from(other *logistic, a answer) answer {
	if p.columns != other.columns || p.binary != other.binary {
		return answer{x: p.start}
	}
	a.x = slices.Clone(a.x)
	if p.mean == nil {
		return a
	}
	for k := range p.columns {
		for j, theta := range a.x[k*p.features : (k+1)*p.features] {
			a.x[p.columns*p.features+k] += float64(theta * (p.mean[j] - other.mean[j]))
		}
	}
	return a
}

// evaluate returns J(x), sets gradient to that of J, and returns the mean curvature of the loss:
// the mean eigenvalue of diag(p) − ppᵀ over rows and over the directions in which probabilities can
// change.
func (p *logistic) evaluate(x, gradient []float64, lambda float64) (value, curvature float64) {
	p.budget.Spend(passSeconds(p.rows.Len(), p.features, p.columns))
	t := p.pass(p.rows, x, true)
	m, n := p.features, p.rows.weight()
	square := 0.0
	for k := range p.columns {
		data := t.gradient[k/thin.Columns*p.paddedFeatures()*thin.Columns+k%thin.Columns:]
		for j, v := range x[k*m : (k+1)*m] {
			square += float64(v * v)
			g := data[j*thin.Columns]
			if p.mean != nil {
				g -= float64(p.mean[j] * t.residual[k])
			}
			// A feature without a second moment is constant (with an intercept) or zero: its slope
			// is rounding.
			if p.moments.a.At(j, j) == 0 {
				g = 0
			}
			gradient[k*m+j] = g/n + float64(2*lambda*v)
		}
		if p.mean != nil {
			gradient[p.columns*m+k] = t.residual[k] / n
		}
	}
	return t.loss/n + float64(lambda*square), t.curvature / (n * float64(p.freedom()))
}

// freedom returns the number of directions in which the probabilities of a row can change.
func (p *logistic) freedom() int {
	if p.binary {
		return 1
	}
	return max(1, p.columns-1)
}

// lambdaOf returns the λ of a level.
func (p *logistic) lambdaOf(g Grid, level float64) float64 {
	if g.relative() {
		level *= p.moments.scale
	}
	if level == 0 {
		level = p.moments.rounding / 4
	}
	if level == 0 {
		return 1 // nothing varies
	}
	return level
}

// model returns x as a model of all classes.
func (p *logistic) model(x []float64, lambda float64) *Model {
	outputs := len(p.prior)
	if outputs == 2 {
		outputs = 1
	}
	m := &Model{
		Features: p.features, Outputs: outputs, Lambda: lambda, Loss: LossLogistic,
		Theta: make([]float64, outputs*p.features), Intercept: make([]float64, outputs),
	}
	for k := range outputs {
		column := p.column[k]
		switch {
		case outputs == 1 && p.binary:
			column = 0
		case outputs == 1: // one class has all rows
			m.Intercept[0] = p.unseen[0]
			if p.column[1] >= 0 {
				m.Intercept[0] = -p.unseen[0]
			}
			return m
		case column < 0:
			m.Intercept[k] = p.unseen[0]
			continue
		}
		theta := x[column*m.Features : (column+1)*m.Features]
		copy(m.Theta[k*m.Features:], theta)
		if p.mean != nil {
			m.Intercept[k] = p.interceptAt(x, column, theta)
		}
	}
	return m
}

// interceptAt returns the intercept for features that are not centred.
func (p *logistic) interceptAt(x []float64, column int, theta []float64) float64 {
	sum := x[p.columns*p.features+column]
	for j, t := range theta {
		sum -= float64(t * p.mean[j])
	}
	return sum
}

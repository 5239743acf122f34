package training

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

// problemOf returns the problem of random rows.
func problemOf(t *testing.T, rows, features, classes int, intercept bool) *logistic {
	t.Helper()
	fit, heldOut := classTable(uint64(rows+features+classes), rows, features, classes)
	p, err := newLogistic(fit.plus(heldOut), Options{Intercept: intercept})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reference computes J, its gradient and its Hessian from the rows in float64, in the variables of
// x.
func (p *logistic) reference(x []float64, lambda float64) (value float64, gradient []float64, hessian *mat.SymDense) {
	size, m := len(x), p.features
	gradient, hessian = make([]float64, size), mat.NewSymDense(size, nil)
	n := float64(p.rows.Len())
	for _, b := range p.rows.blocks {
		for i, class := range b.class {
			p.addReference(x, b.z[i*m:(i+1)*m], class, &value, gradient, hessian)
		}
	}
	value /= n
	hessian.ScaleSym(1/n, hessian)
	for i := range x {
		gradient[i] /= n
		if i < p.columns*m {
			value += lambda * x[i] * x[i]
			gradient[i] += 2 * lambda * x[i]
			hessian.SetSym(i, i, hessian.At(i, i)+2*lambda)
		}
	}
	return value, gradient, hessian
}

// addReference adds one row.
func (p *logistic) addReference(
	x []float64,
	z []float32,
	class int32,
	value *float64,
	gradient []float64,
	h *mat.SymDense,
) {
	own, sum := p.column[class], 0.0
	if p.binary { // as softmax against a logit of 0
		own, sum = 1-int(class), 1
	}
	slope := p.slope(z)
	f, probability := make([]float64, p.columns+1), make([]float64, p.columns)
	for k := range probability {
		for j, s := range slope {
			f[k] += s * x[p.variable(k, j)]
		}
		sum += math.Exp(f[k])
	}
	*value += math.Log(sum) - f[own]
	for k := range probability {
		probability[k] = math.Exp(f[k]) / sum
	}
	for k, r := range probability {
		if k == own {
			r--
		}
		for j, s := range slope {
			gradient[p.variable(k, j)] += r * s
			p.addCurvature(h, probability, slope, k, j)
		}
	}
}

// slope returns the derivatives of a logit by its own variables.
func (p *logistic) slope(z []float32) []float64 {
	slope := widen(z)
	if p.mean == nil {
		return slope
	}
	for j, v := range p.mean {
		slope[j] -= v
	}
	return append(slope, 1)
}

// variable returns the index in x of variable j of column k.
func (p *logistic) variable(k, j int) int {
	if j == p.features {
		return p.columns*p.features + k
	}
	return k*p.features + j
}

// addCurvature adds a row of the Hessian of one row's loss.
func (p *logistic) addCurvature(h *mat.SymDense, probability, slope []float64, k, j int) {
	row := p.variable(k, j)
	for l := range p.columns {
		c := -probability[k] * probability[l]
		if k == l {
			c += probability[k]
		}
		for i, u := range slope {
			if column := p.variable(l, i); row <= column {
				h.SetSym(row, column, h.At(row, column)+c*slope[j]*u)
			}
		}
	}
}

// newton returns the minimum of J by Newton's method with step halving, in float64.
func (p *logistic) newton(t *testing.T, lambda float64) (x []float64, value float64) {
	t.Helper()
	x = append([]float64(nil), p.start...)
	for range 200 {
		v, gradient, hessian := p.reference(x, lambda)
		for i := range x { // the sum of intercepts is free
			hessian.SetSym(i, i, hessian.At(i, i)+1e-12)
		}
		var factor mat.Cholesky
		if !factor.Factorize(hessian) {
			t.Fatal("Hessian is not positive definite")
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, mat.NewVecDense(len(x), gradient)); err != nil {
			t.Log(err)
		}
		decrement := mat.Dot(&step, mat.NewVecDense(len(x), gradient))
		if decrement < 1e-16 {
			return x, v
		}
		for length := 1.0; ; length /= 2 {
			next := append([]float64(nil), x...)
			addMultiple(next, -length, step.RawVector().Data)
			if w, _, _ := p.reference(next, lambda); w <= v-1e-4*length*decrement || length < 1e-9 {
				x = next
				break
			}
		}
	}
	t.Fatal("Newton's method did not converge")
	return nil, 0
}

func TestLogisticGradient(t *testing.T) {
	for _, classes := range []int{2, 3, 20} {
		for _, intercept := range []bool{true, false} {
			p := problemOf(t, 137, 19, classes, intercept)
			x := append([]float64(nil), p.start...)
			for i := range x {
				x[i] += 2 * math.Sin(float64(3*i))
			}
			gradient := make([]float64, len(x))
			value, _ := p.evaluate(x, gradient, 0.01)
			want, wantGradient, _ := p.reference(x, 0.01)
			requireClose(t, "value", []float64{value}, []float64{want}, 1e-6)
			requireClose(t, "gradient", gradient, wantGradient, 1e-5)
		}
	}
}

func TestLogisticOptimumEqualsNewton(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, intercept := range []bool{true, false} {
			p := problemOf(t, 150, 7, classes, intercept)
			a := answer{x: p.start}
			for _, level := range []float64{1e2, 1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10} {
				lambda := p.lambdaOf(Grid{}, level)
				var err error
				a, err = p.solve(context.Background(), a, lambda, solver{linear.NewCholesky(p.features), 1e-5, nil})
				if err != nil || !a.how.Converged {
					t.Fatalf("%d classes, intercept %v: %+v, %v", classes, intercept, a.how, err)
				}
				want, best := p.newton(t, lambda)
				value, _, _ := p.reference(a.x, lambda)
				if !(value-best <= 1e-8*best) {
					t.Errorf("%d classes, intercept %v, λ = %v: J = %v, want %v", classes, intercept, lambda, value, best)
				}
				if level >= 1e-4 { // below that, directions in which J is flat leave weights undetermined
					requireClose(t, "weights", a.x[:p.columns*p.features], want[:p.columns*p.features], 1e-2)
				}
			}
		}
	}
}

func TestTrainLogisticChoosesOnHeldOutRows(t *testing.T) {
	fit, heldOut := classTable(3, 2000, 40, 4)
	f, err := TrainLogistic(context.Background(), fit, heldOut, usual)
	if err != nil {
		t.Fatal(err)
	}
	if f.Rule != RuleHeldOut || f.Model.Loss != LossLogistic || f.Model.Outputs != 4 || f.Unconverged() != 0 {
		t.Fatalf("%+v, model of %d outputs with %s loss", f, f.Model.Outputs, f.Model.Loss)
	}
	if f.FitRows != 1600 || f.HeldOutRows != 400 || f.TrainRows != 2000 {
		t.Errorf("%d rows and %d held out of %d", f.FitRows, f.HeldOutRows, f.TrainRows)
	}
	for i, level := range f.Levels {
		if i > 0 && level <= f.Levels[i-1] {
			t.Errorf("levels %v do not ascend", f.Levels)
		}
		loss, _ := judge(f.OnFit, heldOut)
		if level != f.Level {
			continue
		}
		requireClose(t, "held-out loss", []float64{f.HeldOutLoss[i]}, []float64{loss}, 1e-5)
		for _, other := range f.HeldOutLoss {
			if other < f.HeldOutLoss[i] {
				t.Errorf("level %v has loss %v, another %v", level, f.HeldOutLoss[i], other)
			}
		}
	}
	if _, wrong := judge(f.Model, heldOut); wrong > 65 {
		t.Errorf("misclassification %v %%", wrong)
	}
}

// judge returns the mean log loss and the misclassification of a model in percent, from its
// predictions.
func judge(m *Model, rows *Rows) (loss, wrong float64) {
	f := make([]float32, m.Outputs)
	for _, b := range rows.blocks {
		for i, c := range b.class {
			m.Predict(f, b.z[i*m.Features:(i+1)*m.Features], 1)
			logits := widen(f)
			if m.Outputs == 1 {
				logits = []float64{0, logits[0]}
			}
			sum := 0.0
			for _, v := range logits {
				sum += math.Exp(v - logits[c])
			}
			loss += math.Log(sum) / float64(rows.Len())
			if DecideClass(f, m.Outputs) != c {
				wrong += 100 / float64(rows.Len())
			}
		}
	}
	return loss, wrong
}

func TestTrainLogisticDoesNotDependOnThreads(t *testing.T) {
	fit, heldOut := classTable(5, 9000, 21, 3)
	var first *LogisticFit
	for _, threads := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(threads)
		f, err := TrainLogistic(context.Background(), fit, heldOut, usual)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = f
		}
		requireSameBits(t, "weights", f.Model.Theta, first.Model.Theta)
		requireSameBits(t, "intercepts", f.Model.Intercept, first.Model.Intercept)
		requireSameBits(t, "losses", f.HeldOutLoss, first.HeldOutLoss)
	}
}

func TestTrainLogisticErrors(t *testing.T) {
	fit, heldOut := classTable(1, 200, 3, 2)
	if _, err := TrainLogistic(context.Background(), NewRows(3, 2), nil, usual); !errors.Is(err, ErrNoRows) {
		t.Errorf("no rows: %v", err)
	}
	if _, err := TrainLogistic(context.Background(), fit, heldOut, Options{Grid: ExplicitGrid(-1)}); err == nil {
		t.Error("a negative λ was taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := TrainLogistic(ctx, fit, heldOut, usual); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		bad := NewRows(3, 2)
		bad.Append(fit, 1)
		bad.Add([]float32{1, float32(v), 2}, []int32{1})
		if _, err := TrainLogistic(context.Background(), bad, heldOut, usual); !errors.Is(err, ErrNotFinite) {
			t.Errorf("feature %v: %v", v, err)
		}
	}
	requirePanic(t, "one class", func() { NewRows(3, 1) })
	requirePanic(t, "class 2 of 2", func() { fit.Add(make([]float32, 3), []int32{2}) })
	requirePanic(t, "too few values", func() { fit.Add(make([]float32, 2), []int32{1}) })
	requirePanic(t, "shapes", func() { _, _ = TrainLogistic(context.Background(), fit, NewRows(4, 2), usual) })
}

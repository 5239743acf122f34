package training

import (
	"context"
	"math"
	"testing"
)

// rowsOf returns rows with these values and classes.
func rowsOf(features, classes int, z []float32, class ...int32) *Rows {
	r := NewRows(features, classes)
	r.Add(z, class)
	return r
}

func requireLogistic(t *testing.T, what string, fit, heldOut *Rows, o Options) *LogisticFit {
	t.Helper()
	f, err := TrainLogistic(context.Background(), fit, heldOut, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if f.Unconverged() != 0 {
		t.Fatalf("%s: %d models did not converge: %+v, %+v", what, f.Unconverged(), f.Path, f.Last)
	}
	return f
}

func TestLogisticOfSeparableRowsConverges(t *testing.T) {
	for _, intercept := range []bool{true, false} {
		for _, classes := range []int{2, 3} {
			var z []float32
			var class []int32
			for i := range 400 {
				k := i % classes
				z = append(z, float32(math.Cos(float64(k)*2))+float32(i)*1e-4, float32(math.Sin(float64(k)*2)))
				class = append(class, int32(k))
			}
			fit, heldOut := rowsOf(2, classes, z[:600], class[:300]...), rowsOf(2, classes, z[600:], class[300:]...)
			f := requireLogistic(t, "separable", fit, heldOut, Options{Intercept: intercept})
			if _, wrong := judge(f.Model, heldOut); wrong != 0 {
				t.Errorf("intercept %v, %d classes: misclassification %v %%", intercept, classes, wrong)
			}
		}
	}
}

func TestLogisticOfOneClass(t *testing.T) {
	for _, classes := range []int{2, 4} {
		for only := range int32(2) {
			for _, intercept := range []bool{true, false} {
				fit := NewRows(3, classes)
				for i := range 50 {
					fit.Add([]float32{float32(i), 1, float32(i % 7)}, []int32{only})
				}
				f := requireLogistic(t, "one class", fit, nil, Options{Intercept: intercept})
				if loss, wrong := judge(f.Model, fit); wrong != 0 || !(loss < 0.7) {
					t.Errorf("%d classes, intercept %v: log loss %v, misclassification %v %%", classes, intercept, loss, wrong)
				}
			}
		}
	}
}

func TestLogisticOfAClassThatIsOnlyHeldOut(t *testing.T) {
	fit, heldOut := classTable(7, 500, 4, 3)
	fit4, heldOut4 := NewRows(4, 4), NewRows(4, 4)
	for _, b := range fit.blocks {
		fit4.Add(b.z, b.class)
	}
	for _, b := range heldOut.blocks {
		heldOut4.Add(b.z, b.class)
	}
	heldOut4.Add(make([]float32, 4), []int32{3})
	f := requireLogistic(t, "unseen class", fit4, heldOut4, usual)
	loss, _ := judge(f.OnFit, heldOut4)
	for i, level := range f.Levels {
		if level == f.Level {
			requireClose(t, "held-out loss", []float64{f.HeldOutLoss[i]}, []float64{loss}, 1e-5)
		}
	}
	if f.OnFit.Intercept[3] != -math.Log(2*400) || f.OnFit.Theta[3*4] != 0 {
		t.Errorf("the unseen class has intercept %v and weights %v", f.OnFit.Intercept[3], f.OnFit.Theta[12:])
	}
	if f.Model.Intercept[3] == -math.Log(2*501) {
		t.Error("the class is not learned from its one row")
	}
}

func TestLogisticOfConstantFeatures(t *testing.T) {
	fit, heldOut := NewRows(3, 2), NewRows(3, 2)
	for i := range 300 {
		to := fit
		if i%4 == 0 {
			to = heldOut
		}
		to.Add([]float32{0.3, float32(math.Sin(float64(i))), 0}, []int32{int32(i / 3 % 2)})
	}
	f := requireLogistic(t, "constant features", fit, heldOut, usual)
	if f.Model.Theta[0] != 0 || f.Model.Theta[2] != 0 || f.ConstantFeatures != 2 {
		t.Errorf("weights %v with %d constant features", f.Model.Theta, f.ConstantFeatures)
	}
	f = requireLogistic(t, "constant features", fit, heldOut, Options{})
	if f.Model.Theta[2] != 0 {
		t.Errorf("weight %v of a feature that is zero", f.Model.Theta[2])
	}
}

// A descent that cannot reach the required precision reports it.
func TestDescentReportsMissingConvergence(t *testing.T) {
	d := &descent{
		value: func(x, gradient []float64) float64 {
			gradient[0] = math.Copysign(1, x[0]) // never smaller
			return math.Abs(x[0])
		},
		precondition: func(dst, gradient []float64) { copy(dst, gradient) },
		reference:    1, tolerance: 1e-3,
	}
	start := &point{x: []float64{math.Pi}, gradient: []float64{1}, value: math.Pi}
	_, found, err := d.run(context.Background(), start)
	if err != nil || found.Converged || found.RelativeGradient != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestRowsDoNotDependOnCalls(t *testing.T) {
	const rows = 2500
	whole, single := NewRows(2, 3), NewRows(2, 3)
	z, class := make([]float32, 2*rows), make([]int32, rows)
	for i := range class {
		z[2*i], z[2*i+1], class[i] = float32(i), -float32(i), int32(i%3)
		single.Add(z[2*i:2*i+2], class[i:i+1])
	}
	whole.Add(z, class)
	if whole.Len() != rows || len(whole.blocks) != len(single.blocks) || whole.Bytes() != rows*12 {
		t.Fatalf("%d rows in %d and %d blocks, %d bytes", whole.Len(), len(whole.blocks), len(single.blocks), whole.Bytes())
	}
	for i, b := range whole.blocks {
		requireSameBits(t, "rows", widen(b.z), widen(single.blocks[i].z))
	}
	both := whole.plus(single)
	both.Add(z[:2], class[:1]) // leaves whole and single alone
	if both.Len() != 2*rows+1 || single.Len() != rows || len(single.blocks[2].class) != rows-2*rowBlock {
		t.Errorf("%d rows after %d", both.Len(), single.Len())
	}
	if both.MajorityClass() != 0 {
		t.Errorf("majority class %d", both.MajorityClass())
	}
}

package training

import "testing"

// requireFinite fails unless every figure of the fit is finite and can be marshalled.
func requireFinite(t *testing.T, f *Fit) {
	t.Helper()
	for _, m := range []*Model{f.Model, f.OnFit} {
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	for _, values := range [][]float64{f.Levels, f.Lambdas, f.HeldOutLoss, f.GCV, {f.Level}} {
		if !finite(values) {
			t.Fatalf("not finite: %v", values)
		}
	}
	if len(f.Levels) == 0 || len(f.Levels) != len(f.Lambdas) {
		t.Fatalf("%d levels, %d lambdas", len(f.Levels), len(f.Lambdas))
	}
}

// bothWays trains with and without intercept on the grid of each kind.
func bothWays(t *testing.T, fit, held table, check func(t *testing.T, f *Fit, intercept bool)) {
	t.Helper()
	for _, intercept := range []bool{true, false} {
		for _, g := range []Grid{RelativeGrid(), PaperGrid(), ExplicitGrid(0), ExplicitGrid(0, 1e-300, 1e300)} {
			name := g.String()
			if intercept {
				name += " with intercept"
			}
			t.Run(name, func(t *testing.T) {
				f, err := Train(fit.sums(), held.sums(), Options{Intercept: intercept, Grid: g})
				if err != nil {
					t.Fatal(err)
				}
				requireFinite(t, f)
				check(t, f, intercept)
			})
		}
	}
}

func TestOnlyHeldOutRows(t *testing.T) {
	d := randomTable(22, 100, 5, 1)
	f, err := Train(d.part(0, 0).sums(), d.sums(), usual)
	if err != nil {
		t.Fatal(err)
	}
	if f.Rule != RuleGCV || f.TrainRows != 100 || f.FitRows != 0 || f.OnFit != f.Model {
		t.Fatalf("fit reports %+v", f)
	}
	theta, _ := naiveRidge(t, d, f.Model.Lambda, true)
	requireClose(t, "weights", f.Model.Theta, theta, 1e-6)
}

func TestOneHeldOutRowFallsBackToCrossValidation(t *testing.T) {
	d := randomTable(23, 201, 8, 1)
	f, err := Train(d.part(0, 200).sums(), d.part(200, 201).sums(), usual)
	if err != nil {
		t.Fatal(err)
	}
	theta, _ := naiveRidge(t, d, f.Model.Lambda, true)
	requireClose(t, "weights on all rows", f.Model.Theta, theta, 1e-6)
	theta, _ = naiveRidge(t, d.part(0, 200), f.OnFit.Lambda, true)
	requireClose(t, "weights on the fit rows", f.OnFit.Theta, theta, 1e-6)
	bothWays(t, d.part(0, 200), d.part(200, 201), func(t *testing.T, f *Fit, _ bool) {
		if f.Rule != RuleGCV || f.HeldOutRows != 1 || f.HeldOutLoss != nil || len(f.GCV) != len(f.Levels) {
			t.Fatalf("fit reports %+v", f)
		}
	})
}

func TestFewerRowsThanFeatures(t *testing.T) {
	d := randomTable(24, 80, 90, 2)
	bothWays(t, d.part(0, 40), d.part(40, 80), func(t *testing.T, f *Fit, _ bool) {
		if f.Rule != RuleHeldOut {
			t.Fatalf("rule %s", f.Rule)
		}
	})
	bothWays(t, d.part(0, 3), d.part(3, 4), func(*testing.T, *Fit, bool) {})
}

func TestConstantFeaturesGetNoWeightUnderAnIntercept(t *testing.T) {
	d := randomTable(25, 300, 6, 1)
	for n := range d.rows {
		d.z[n*6] = 0.1 / 3
		d.z[n*6+3] = 0
	}
	bothWays(t, d.part(0, 200), d.part(200, 300), func(t *testing.T, f *Fit, intercept bool) {
		if f.ConstantFeatures != 2 {
			t.Fatalf("%d constant features, want 2", f.ConstantFeatures)
		}
		if intercept && f.Model.Theta[0] != 0 || f.Model.Theta[3] != 0 {
			t.Fatalf("weights of constant features %v and %v", f.Model.Theta[0], f.Model.Theta[3])
		}
	})
}

func TestNothingVaries(t *testing.T) {
	d := table{rows: 100, features: 2, outputs: 1}
	for range d.rows {
		d.z = append(d.z, 0.3, 0)
		d.y = append(d.y, 7.7)
	}
	bothWays(t, d.part(0, 60), d.part(60, 100), func(t *testing.T, f *Fit, intercept bool) {
		if intercept {
			requireClose(t, "weights", f.Model.Theta, []float64{0, 0}, 0)
			requireClose(t, "intercept", f.Model.Intercept, []float64{float64(float32(7.7))}, 1e-14)
			if f.AtEdge {
				t.Fatal("equal losses reported as the edge of the grid")
			}
		} else if f.Level < 1e-5 {
			// The only feature holds the mean. Any small λ will do, but θ is not zero.
			requireClose(t, "prediction", []float64{f.Model.Theta[0] * float64(float32(0.3))}, []float64{7.7}, 1e-3)
		}
	})
	zero := table{rows: 50, features: 2, outputs: 1, z: make([]float32, 100), y: make([]float32, 50)}
	bothWays(t, zero, zero, func(t *testing.T, f *Fit, _ bool) {
		requireClose(t, "weights", f.Model.Theta, []float64{0, 0}, 0)
	})
}

func TestDuplicatedFeaturesShareTheirWeight(t *testing.T) {
	d := randomTable(28, 400, 8, 1)
	for n := range d.rows {
		d.z[n*8+5] = d.z[n*8+2]
		d.z[n*8+7] = d.z[n*8+2]
	}
	bothWays(t, d.part(0, 300), d.part(300, 400), func(t *testing.T, f *Fit, _ bool) {
		theta := f.Model.Theta
		if f.Level >= 1e-10 && f.Level < 1e100 || f.Level == 0 {
			requireClose(t, "weights of equal features", []float64{theta[5], theta[7]}, []float64{theta[2], theta[2]}, 1e-4)
		}
	})
	// λ = 0 is the smallest-norm solution: the limit of naive ridge as λ goes to zero.
	theta, _ := naiveRidge(t, d, 1e-9, true)
	requireClose(t, "smallest norm", trainAt(t, d, 0, true).Model.Theta, theta, 1e-5)
}

func TestCrossValidationAgreesWithLeaveOneOut(t *testing.T) {
	// With many rows the score approaches the mean squared error when leaving one row out.
	d := randomTable(30, 400, 10, 1)
	f, err := Train(d.sums(), nil, Options{Intercept: true, Grid: ExplicitGrid(1e-3)})
	if err != nil {
		t.Fatal(err)
	}
	loo := 0.0
	for n := range d.rows {
		rest := NewSums(d.features, 1)
		for _, p := range []table{d.part(0, n), d.part(n+1, d.rows)} {
			rest.Add(p.z, p.rows, p.y)
		}
		without, err := Train(rest, nil, Options{Intercept: true, Grid: ExplicitGrid(1e-3)})
		if err != nil {
			t.Fatal(err)
		}
		loo += rowLoss(without.Model, d.part(n, n+1))[0] / float64(d.rows)
	}
	requireClose(t, "score", f.GCV, []float64{loo / variances(t, d)[0]}, 0.01)
}

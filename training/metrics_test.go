package training

import "testing"

func TestRegressionByHand(t *testing.T) {
	// y = 1, 2, 3, 6: Σy² = 50, ȳ = 3, Σ(y−ȳ)² = 14; errors 1, 0, −1, 2: Σ(f−y)² = 6; the training
	// mean 2 errs by 1, 0, −1, −4: 18.
	r := NewRegression([]float64{2})
	r.Add([]float32{2, 2, 2, 8}, []float32{1, 2, 3, 6}, 4)
	requireClose(t, "metrics",
		[]float64{r.RelativeSquaredError(), r.UnexplainedVariance(), r.ConstantError()},
		[]float64{100 * 6.0 / 50, 100 * 6.0 / 14, 100 * 18.0 / 50}, 1e-14)
}

func TestRegressionAveragesPercentagesOverOutputs(t *testing.T) {
	// Output 0: y = ±1 predicted as 0: 100 %. Output 1: y = ±1000 predicted exactly: 0 %.
	r := NewRegression([]float64{0, 0})
	r.Add([]float32{0, 1000, 0, -1000}, []float32{1, 1000, -1, -1000}, 2)
	got := []float64{r.RelativeSquaredError(), r.UnexplainedVariance(), r.ConstantError()}
	requireClose(t, "metrics", got, []float64{50, 50, 100}, 1e-14)
}

func TestRegressionWithoutVarianceIsFinite(t *testing.T) {
	r := NewRegression([]float64{4})
	check := func(what string, want ...float64) {
		t.Helper()
		requireClose(t, what, []float64{r.RelativeSquaredError(), r.UnexplainedVariance(), r.ConstantError()}, want, 1e-14)
	}
	check("no rows", 0, 0, 0)
	r.Add([]float32{4}, []float32{4}, 1)
	check("one row met", 0, 0, 0)
	r.Add([]float32{6}, []float32{4}, 1)
	check("constant rows missed", 100*4.0/32, 100, 0)
}

func TestClassificationByHand(t *testing.T) {
	c := NewClassification(3, 1)
	c.Add([]float32{
		.9, -1, -1, // 0
		-1, .2, .1, // 1
		-.1, -.2, -.3, // 0
		0, 0, 5, // 2
	}, []int32{0, 1, 2, 2})
	requireClose(t, "metrics", []float64{c.Misclassification(), c.ConstantError()}, []float64{25, 75}, 1e-15)
	c.AddCoded([]float32{1, 0, 0}, []float32{-1, 1, -1}, 1)
	requireClose(t, "with a coded row", []float64{c.Misclassification(), c.ConstantError()}, []float64{40, 60}, 1e-15)
	if c.Rows != 5 {
		t.Fatalf("%d rows, want 5", c.Rows)
	}
	if empty := NewClassification(1, 0); empty.Misclassification() != 0 || empty.ConstantError() != 0 {
		t.Fatal("no rows: not 0")
	}
}

func TestBinaryClassification(t *testing.T) {
	c := NewClassification(1, 0)
	c.Add([]float32{.3, -.3, 0, 2}, []int32{1, 0, 0, 0})
	requireClose(t, "metrics", []float64{c.Misclassification(), c.ConstantError()}, []float64{25, 25}, 1e-15)
}

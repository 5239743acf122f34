package training

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

func TestRegressionMeasuresAreInUnitsOfTheLabel(t *testing.T) {
	// Labels 1, 10, 100 and predictions 10, 10, 10, given as logarithms: errors 9, 0, −90, mean 37,
	// Σ(y−ȳ)² = 36²+27²+63².
	r := NewRegression([]float64{0}).InUnits(func(_ int, v float64) float64 { return math.Pow(10, v) })
	r.Add([]float32{1, 1, 1}, []float32{0, 1, 2}, 3)
	m := r.Measures()
	squares, centred := 81.0+8100, 36.0*36+27*27+63*63
	got := []float64{
		*m.UnexplainedVariance,
		*m.R2,
		m.RMSE[0],
		m.MAE[0],
		m.ConstantRMSE[0],
		*m.RelativeSquaredError,
	}
	requireClose(t, "measures", got, []float64{
		100 * squares / centred,
		1 - squares/centred,
		math.Sqrt(squares / 3),
		33,
		math.Sqrt(centred / 3),
		100 * 2.0 / 5,
	}, 1e-13)
}

func TestFigureText(t *testing.T) {
	for v, want := range map[float64]string{
		0.12346: "0.1235",
		12.34:   "12.34",
		9999:    "9999",
		62514.6: "62,515",
		3e12:    "3e+12",
	} {
		if got := FigureText(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestMeasuresAreNumbersOrMissing(t *testing.T) {
	r := NewRegression([]float64{0}).InUnits(func(_ int, v float64) float64 { return math.Exp(v) })
	r.Add([]float32{1000, 1}, []float32{1, 1}, 2)
	if m := r.Measures(); m.RMSE != nil || m.UnexplainedVariance != nil && math.IsInf(*m.UnexplainedVariance, 0) {
		t.Errorf("infinite figures are shown: %+v", m)
	}
	for name, m := range map[string]Measures{
		"regression":   NewRegression([]float64{0}).Measures(),
		"classes":      NewClassification(3, 0).Measures(),
		"one infinite": r.Measures(),
	} {
		if _, err := json.Marshal(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := NewClassification(1, 0)
	one.Add([]float32{1, -1}, []int32{0, 0})
	if m := one.Measures(); m.AUC != nil || m.AveragePrecision != nil {
		t.Errorf("a class without rows is ranked: %+v", m)
	}
}

// naiveRanking checks every pair and every threshold.
func naiveRanking(scores []float32, class []int32) (auc, precision float64) {
	var pairs, better float64
	for i, a := range scores {
		var found, taken, atScore float64
		for j, b := range scores {
			if class[i] == 1 && class[j] == 0 {
				pairs++
				switch {
				case a > b:
					better++
				case a == b:
					better += .5
				}
			}
			if b >= a {
				taken++
				found += float64(class[j])
			}
		}
		if class[i] == 1 {
			atScore = found / taken
		}
		precision += atScore
	}
	positive := 0.0
	for _, c := range class {
		positive += float64(c)
	}
	return better / pairs, precision / positive
}

func TestRankingEqualsNaiveComputation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, ties := range []float64{1e6, 8, 1} {
		var scores []float32
		var class []int32
		c := NewClassification(1, 0)
		for range 600 {
			k := int32(0)
			if random.Float64() < .07 {
				k = 1
			}
			scores = append(scores, float32(math.Round((random.NormFloat64()+float64(k))*ties)/ties))
			class = append(class, k)
		}
		c.Add(scores, class)
		auc, precision := naiveRanking(scores, class)
		m := c.Measures()
		requireClose(t, "AUC and average precision", []float64{*m.AUC, *m.AveragePrecision}, []float64{auc, precision}, 1e-12)
		if m.RareClass != "1" {
			t.Errorf("the rare class is %q", m.RareClass)
		}
	}
}

func TestLogLossAndCalibration(t *testing.T) {
	logit := func(p float64) float32 { return float32(math.Log(p / (1 - p))) }
	c := NewClassification(1, 0)
	c.Logits = true
	// Four rows at .25, one of them of class 1; two at .95, both of class 1; one at 1 to the last
	// bit.
	low4, high2 := logit(.25), logit(.95)
	c.Add([]float32{low4, low4, low4, low4, high2, high2, 100}, []int32{0, 0, 1, 0, 1, 1, 1})
	m := c.Measures()
	loss := -(3*math.Log(.75) + math.Log(.25) + 2*math.Log(.95)) / 7
	entropy := -(3*math.Log(3.0/7) + 4*math.Log(4.0/7)) / 7
	requireClose(t, "log losses", []float64{*m.LogLoss, *m.ConstantLogLoss}, []float64{loss, entropy}, 1e-7)
	if len(m.Calibration) != calibrationBins {
		t.Fatalf("%d bins", len(m.Calibration))
	}
	low, high := m.Calibration[2], m.Calibration[9]
	bins := []float64{
		float64(low.Rows),
		low.Predicted,
		low.Observed,
		float64(high.Rows),
		high.Predicted,
		high.Observed,
	}
	requireClose(t, "bins", bins,
		[]float64{4, .25, .25, 3, (1.9 + 1) / 3, 1}, 1e-7)
	if r := m.Recall; len(r) != 2 || r[0].Right != 3 || r[0].Rows != 3 ||
		r[1].Right != 3 || r[1].Rows != 4 || r[1].Share() != .75 {
		t.Errorf("recall %+v", m.Recall)
	}
}

func TestCalibrationOfManyClassesUsesTheDecidedClass(t *testing.T) {
	c := NewClassification(3, 0)
	c.Logits = true
	row := []float32{float32(math.Log(.7)), float32(math.Log(.2)), float32(math.Log(.1))}
	for class := range int32(3) {
		c.Add(row, []int32{class})
	}
	m := c.Measures()
	inBins := float64(m.Calibration[7].Rows + m.Calibration[6].Rows)
	requireClose(t, "log loss, bin", []float64{*m.LogLoss, inBins, *m.ConstantLogLoss},
		[]float64{-math.Log(.7*.2*.1) / 3, 3, math.Log(3)}, 1e-6)
	if m.AUC != nil {
		t.Error("three classes have an AUC")
	}
	m.NameClasses([]string{"a", "b", "c"})
	if m.Recall[2].Class != "c" {
		t.Errorf("names %+v", m.Recall)
	}
}

func TestNoBetterThanConstant(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		measures Measures
		want     bool
	}{
		"not measured":   {Measures{}, false},
		"fewer errors":   {Measures{Misclassification: f(9), ConstantError: f(10)}, false},
		"as many errors": {Measures{Misclassification: f(10), ConstantError: f(10)}, true},
		"a rare class ranked": {
			Measures{Misclassification: f(10), ConstantError: f(10), LogLoss: f(.2), ConstantLogLoss: f(.3)},
			false,
		},
		"probabilities worse": {
			Measures{Misclassification: f(10), ConstantError: f(10), LogLoss: f(.4), ConstantLogLoss: f(.3)},
			true,
		},
		"explains nothing":   {Measures{UnexplainedVariance: f(100.5)}, true},
		"explains something": {Measures{UnexplainedVariance: f(99)}, false},
	} {
		if got := c.measures.NoBetterThanConstant(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPairedStandardErrorEqualsSpreadOverSamples(t *testing.T) {
	const samples, rows = 400, 200
	random := rand.New(rand.NewPCG(3, 4))
	for name, outputs := range map[string]int{"one output": 1, "two outputs": 2} {
		var differences []float64
		var claimed float64
		for range samples {
			y, a, b := make([]float32, rows*outputs), make([]float32, rows*outputs), make([]float32, rows*outputs)
			for i := range y {
				v := random.NormFloat64()
				y[i], a[i], b[i] = float32(v), float32(.7*v+.3*random.NormFloat64()), float32(.6*v+.4*random.NormFloat64())
			}
			p := PairedUnexplainedVariance(a, b, y, outputs)
			differences = append(differences, p.First-p.Second)
			claimed += p.StandardError / samples
		}
		if seen := meanError(differences) * math.Sqrt(samples); math.Abs(claimed/seen-1) > .1 {
			t.Errorf("%s: standard error %v claimed, %v seen", name, claimed, seen)
		}
	}
}

package training

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The noise of a difference from a constant is that of the losses row by row.
func TestConstantNoiseByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows = 400
	for _, logits := range []bool{true, false} {
		c := NewClassification(1, 0)
		c.Logits = logits
		predicted, class, ones := make([]float32, rows), make([]int32, rows), 0.0
		for i := range rows {
			predicted[i] = float32(r.NormFloat64())
			if r.Float64() < 0.3 {
				class[i] = 1
				ones++
			}
		}
		c.Add(predicted, class)
		shares := [2]float64{1 - ones/rows, ones / rows}
		differences := make([]float64, rows)
		for i := range rows {
			if logits {
				differences[i] = NegativeLog(predicted[i:i+1], class[i]) + math.Log(shares[class[i]])
				continue
			}
			if DecideClass(predicted[i:i+1], 1) != class[i] {
				differences[i] = 100
			}
			differences[i] -= 100 * float64(class[i])
		}
		m := c.Measures()
		requireClose(t, "noise", []float64{*m.ConstantNoise}, []float64{meanError(differences)}, 0.01)
	}
	y, f := make([]float32, rows), make([]float32, rows)
	for i := range rows {
		y[i] = float32(r.NormFloat64())
		f[i] = y[i]*0.3 + float32(0.2*r.NormFloat64())
	}
	metric := NewRegression([]float64{0})
	metric.Add(f, y, rows)
	paired := PairedUnexplainedVariance(f, make([]float32, rows), y, 1)
	requireClose(t, "noise", []float64{*metric.Measures().ConstantNoise}, []float64{paired.StandardError}, 0.03)
}

func TestSentence(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	for want, m := range map[string]Measures{
		"":                                       {},
		"log loss 0.3370, a constant has 0.4470": {LogLoss: f(0.337), ConstantLogLoss: f(0.447), ConstantNoise: f(0.01)},
		"log loss 0.4400, within chance of a constant, which has 0.4470":        {LogLoss: f(0.44), ConstantLogLoss: f(0.447), ConstantNoise: f(0.01)},
		"nothing here beats a constant: log loss 0.4480, a constant has 0.4470": {LogLoss: f(0.448), ConstantLogLoss: f(0.447), ConstantNoise: f(0.01)},
		"unexplained variance 28.80 %, a constant has 100.00 %":                 {UnexplainedVariance: f(28.8), ConstantNoise: f(3)},
		"misclassification 7.40 %, a constant has 16.00 %":                      {Misclassification: f(7.4), ConstantError: f(16), ConstantNoise: f(1)},
		"absolute error 50.00 %, a constant has 100.00 %":                       {Measure: MeasureAbsoluteError, AbsoluteError: f(50), UnexplainedVariance: f(20)},
	} {
		if got := m.Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Pairs of predictions are compared row by row, by every measure.
func TestPairedByMeasure(t *testing.T) {
	first, second := []float32{2, -1, 0.5, -3}, []float32{1, 1, -0.5, -2}
	classes := []float32{1, -1, 1, 0} // the last is of an unknown class
	loss := func(f float64, sign float64) float64 { return math.Log1p(math.Exp(-sign * f)) }
	a := []float64{loss(2, 1), loss(-1, -1), loss(0.5, 1)}
	b := []float64{loss(1, 1), loss(1, -1), loss(-0.5, 1)}
	p := PairedBy(MeasureLogLoss, first, second, classes, 1)
	mean := func(v []float64) float64 { return (v[0] + v[1] + v[2]) / 3 }
	noise := meanError([]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]})
	requireClose(t, "log losses", []float64{p.First, p.Second, p.StandardError}, []float64{mean(a), mean(b), noise}, 1e-9)

	y := []float32{1, 2, 3, 6} // mean 3, absolute errors of a constant 2+1+0+3
	p = PairedBy(MeasureAbsoluteError, []float32{1, 2, 3, 3}, []float32{0, 1, 2, 5}, y, 1)
	requireClose(t, "absolute errors", []float64{p.First, p.Second}, []float64{50, 100 * 4.0 / 6}, 1e-9)
	if p = PairedBy(MeasureMisclassification, first, second, classes, 1); p.First != 25 || p.Second != 75 {
		t.Errorf("misclassification %+v", p)
	}
	if p = PairedBy(MeasureUnexplainedVariance, y, []float32{3, 3, 3, 3}, y, 1); p.First != 0 || p.Second != 100 {
		t.Errorf("unexplained variance %+v", p)
	}
}

// The two numbers of a sentence are equal only if the errors are, and only a smaller one of the
// model is shown without the remark that nothing beats a constant.
func TestSentenceShowsTheSmallerNumber(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 4))
		value := math.Exp(4 * r.NormFloat64())
		constant := value * (1 + math.Pow(10, -9*r.Float64())*r.NormFloat64())
		m := Measures{LogLoss: &value, ConstantLogLoss: &constant}
		if seed%2 == 0 {
			m = Measures{Misclassification: &value, ConstantError: &constant}
		}
		said := m.Sentence()
		numbers := regexp.MustCompile(`[-+]?[0-9][-+.0-9e]*`).FindAllString(said, -1)
		if len(numbers) != 2 {
			t.Fatalf("%q", said)
		}
		a, _ := strconv.ParseFloat(numbers[0], 64)
		b, _ := strconv.ParseFloat(numbers[1], 64)
		if worse := strings.HasPrefix(said, NothingBeatsConstant); worse != (value >= constant) || worse != (a >= b) {
			t.Fatalf("%d: %q of %v and %v", seed, said, value, constant)
		}
	}
}

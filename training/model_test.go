package training

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestPredictByHand(t *testing.T) {
	m := &Model{Features: 3, Outputs: 2, Theta: []float64{1, 2, 3, -1, 0, .5}, Intercept: []float64{10, 0}, Loss: LossSquared}
	got := make([]float32, 4)
	m.Predict(got, []float32{1, 0, -1, .5, .25, 2}, 2)
	requireClose(t, "predictions", widen(got), []float64{8, -1.5, 17, .5}, 0)
	m.Predict(nil, nil, 0)
}

func TestModelValidate(t *testing.T) {
	good := func() *Model {
		return &Model{Features: 2, Outputs: 1, Theta: []float64{1, 2}, Intercept: []float64{0}, Loss: LossSquared}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(*Model){
		"features":  func(m *Model) { m.Features = 0 },
		"outputs":   func(m *Model) { m.Outputs = -1 },
		"weights":   func(m *Model) { m.Theta = m.Theta[:1] },
		"intercept": func(m *Model) { m.Intercept = nil },
		"NaN":       func(m *Model) { m.Theta[1] = math.NaN() },
		"infinity":  func(m *Model) { m.Intercept[0] = math.Inf(1) },
		"lambda":    func(m *Model) { m.Lambda = math.NaN() },
	} {
		m := good()
		spoil(m)
		if m.Validate() == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestPredictPanicsOnWrongShapes(t *testing.T) {
	m := &Model{Features: 2, Outputs: 1, Theta: []float64{1, 2}, Intercept: []float64{0}}
	requirePanic(t, "z", func() { m.Predict(make([]float32, 1), make([]float32, 3), 1) })
	requirePanic(t, "dst", func() { m.Predict(nil, make([]float32, 2), 1) })
}

func TestFitIsJSON(t *testing.T) {
	d := randomTable(51, 200, 3, 1)
	f, err := Train(d.part(0, 150).sums(), d.part(150, 200).sums(), usual)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"rule":"held_out"`, `"held_out_loss":[`, `"loss":"squared"`, `"train_rows":200`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var back Fit
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	requireSameBits(t, "weights through JSON", back.Model.Theta, f.Model.Theta)
}

package training

import (
	"math"
	"testing"
)

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
		"too large": func(m *Model) { m.Theta[0] = -1.1 * LargestWeight },
		"far away":  func(m *Model) { m.Intercept[0] = 1.1 * LargestWeight },
		"a member":  func(m *Model) { m.MemberIntercept = []float64{0, 1.1 * LargestWeight} },
		"lambda":    func(m *Model) { m.Lambda = math.NaN() },
	} {
		m := good()
		spoil(m)
		if m.Validate() == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

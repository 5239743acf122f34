package training

import (
	"math"
	"slices"
	"testing"
)

func TestCodeClasses(t *testing.T) {
	for _, c := range []struct {
		k     int
		class []int32
		want  []float32
	}{
		{2, []int32{0, 1, 1}, []float32{-1, 1, 1}},
		{1, []int32{1, 0}, []float32{1, -1}},
		{3, []int32{2, 0}, []float32{-1, -1, 1, 1, -1, -1}},
		{4, nil, nil},
	} {
		got := make([]float32, len(c.want))
		CodeClasses(got, c.class, c.k)
		if !slices.Equal(got, c.want) {
			t.Errorf("k = %d, classes %v: %v, want %v", c.k, c.class, got, c.want)
		}
		outputs := max(1, len(c.want)/max(1, len(c.class)))
		for n, class := range c.class {
			if got := DecideClass(got[n*outputs:(n+1)*outputs], outputs); got != class {
				t.Errorf("k = %d: class %d decided as %d", c.k, class, got)
			}
		}
	}
}

func TestProbabilities(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ pred, want []float32 }{
		{[]float32{0}, []float32{0.5, 0.5}},
		{[]float32{float32(math.Log(3))}, []float32{0.25, 0.75}},
		{[]float32{1000}, []float32{0, 1}},
		{[]float32{-1000}, []float32{1, 0}},
		{[]float32{2, 2, 2}, []float32{1. / 3, 1. / 3, 1. / 3}},
		{[]float32{1000, -1000}, []float32{1, 0}},
		{[]float32{inf, 1, inf}, []float32{0.5, 0, 0.5}},
		{[]float32{-inf, -inf}, []float32{0.5, 0.5}},
		{[]float32{float32(math.Log(1)), float32(math.Log(2)), float32(math.Log(5))}, []float32{0.125, 0.25, 0.625}},
	} {
		got := make([]float32, len(c.want))
		Probabilities(got, c.pred)
		for k := range got {
			if !(math.Abs(float64(got[k]-c.want[k])) < 1e-6) {
				t.Errorf("%v: %v, want %v", c.pred, got, c.want)
				break
			}
		}
	}
	requirePanic(t, "one class", func() { Probabilities(make([]float32, 1), []float32{1}) })
	requirePanic(t, "too many", func() { Probabilities(make([]float32, 3), []float32{1, 2}) })
}

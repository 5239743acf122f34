package training

import (
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

func TestDecideClassBreaksTiesByNumber(t *testing.T) {
	if got := DecideClass([]float32{-1, 3, 3}, 3); got != 1 {
		t.Errorf("tie decided as %d, want 1", got)
	}
	if got := DecideClass([]float32{0}, 1); got != 0 {
		t.Errorf("zero decided as %d, want 0", got)
	}
}

func TestClassesPanicOnWrongShapes(t *testing.T) {
	requirePanic(t, "class beyond", func() { CodeClasses(make([]float32, 3), []int32{3}, 3) })
	requirePanic(t, "class below", func() { CodeClasses(make([]float32, 1), []int32{-1}, 2) })
	requirePanic(t, "length", func() { CodeClasses(make([]float32, 2), []int32{0}, 2) })
	requirePanic(t, "outputs", func() { DecideClass([]float32{1}, 2) })
	requirePanic(t, "no outputs", func() { DecideClass(nil, 0) })
}

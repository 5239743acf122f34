package training

import (
	"errors"
	"math"
	"runtime"
	"testing"
)

func TestRidgeHasTheBitsOfTrain(t *testing.T) {
	d := randomTable(32, 500, 60, 1)
	fit, err := Train(d.sums(), nil, Options{Intercept: true, Grid: ExplicitGrid(1e-3)})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, threads := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(threads)
		m, _, err := d.sums().Ridge(1e-3, 1)
		if err != nil {
			t.Fatal(err)
		}
		requireSameBits(t, "weights", m.Theta, fit.Model.Theta)
		requireSameBits(t, "intercept", m.Intercept, fit.Model.Intercept)
	}
}

func TestRidgeOfAnInfinityIsAnError(t *testing.T) {
	s := NewSums(1, 1)
	s.Add([]float32{1, float32(math.Inf(1))}, 2, []float32{1, 2})
	if _, _, err := s.Ridge(1, 0); !errors.Is(err, ErrNotFinite) {
		t.Errorf("error %v", err)
	}
}

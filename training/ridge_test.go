package training

import (
	"errors"
	"math"
	"runtime"
	"testing"
)

func TestRidgeIsTheModelOfOneLambda(t *testing.T) {
	for _, rows := range []int{1, 3, 60, 700} {
		for _, features := range []int{1, 7, 50} {
			d := randomTable(31, rows, features, 2)
			for _, level := range []float64{1e-2, 1} {
				m, scale, err := d.sums().Ridge(level, 0)
				if err != nil {
					t.Fatal(err)
				}
				theta, intercept := naiveRidge(t, d, m.Lambda, true)
				requireClose(t, "weights", m.Theta, theta, 1e-3)
				requireClose(t, "intercept", m.Intercept, intercept, 1e-3)
				if rows > 1 && math.Abs(m.Lambda-level*scale) > 1e-12*m.Lambda {
					t.Errorf("%d rows of %d: lambda %v of level %v and scale %v", rows, features, m.Lambda, level, scale)
				}
				again, kept, err := d.sums().Ridge(level/2, 2*scale)
				if err != nil || kept != 2*scale {
					t.Fatalf("scale %v, error %v", kept, err)
				}
				requireSameBits(t, "weights of the same lambda", again.Theta, m.Theta)
			}
		}
	}
}

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

package kernel

import (
	"math"
	"testing"
)

// cosineError is the documented error of Cos for the argument given.
const cosineError = 2.5e-7

func TestCosIsWithinItsErrorOverOneTurn(t *testing.T) {
	worst, at := 0.0, float32(0)
	const steps = 1 << 20
	for i := -steps; i <= steps; i++ {
		z := float32(i) / (2 * steps)
		if e := math.Abs(float64(Cos(z)) - math.Cos(2*math.Pi*float64(z))); e > worst {
			worst, at = e, z
		}
	}
	if worst > cosineError {
		t.Errorf("error %v at %v turns, want %v at most", worst, at, cosineError)
	}
}

func TestErrorsAreBoundedForExactArguments(t *testing.T) {
	// Every binade up to the limit, densely: the fraction of a turn is exact, however coarse.
	for exponent := -30; exponent < 22; exponent++ {
		for i := range 4096 {
			for _, sign := range []float64{1, -1} {
				z := float32(sign * math.Ldexp(1+float64(i)/4096+float64(i*i%4096)/(1<<24), exponent))
				sin, cos := math.Sincos(2 * math.Pi * (float64(z) - math.Round(float64(z))))
				if e, s := math.Abs(float64(Cos(z))-cos), math.Abs(float64(Slope(z))+sin); !(e <= cosineError && s <= slopeError) {
					t.Fatalf("errors %v and %v at %v turns, want %v and %v at most", e, s, z, cosineError, slopeError)
				}
			}
		}
	}
}

func TestCosOfUnknowablePhasesIsZero(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, z := range []float32{
		1 << 22, -1 << 22, 1 << 30, math.MaxFloat32, -math.MaxFloat32, inf, -inf, float32(math.NaN()),
	} {
		if c := Cos(z); c != 0 {
			t.Errorf("Cos(%v) is %v, want 0", z, c)
		}
	}
	for _, z := range []float32{1<<22 - 0.5, 0.5 - 1<<22} {
		if c := Cos(z); math.Abs(float64(c)+1) > cosineError {
			t.Errorf("Cos(%v) is %v, want -1", z, c)
		}
	}
}

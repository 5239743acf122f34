// Package portable has the elementary functions from which random features are drawn, with the same
// bits on every architecture and in every language with IEEE 754 doubles.
//
// The functions of package math may be assembly on one architecture and Go on another, and a
// compiler may fuse x*y + z on some and not on others. Here an explicit conversion rounds every
// product before it is added, and all functions consist of +, -, *, /, square root and bit moves.
package portable

import "math"

// ln2Hi + ln2Lo is ln 2; ln2Hi has 32 trailing zero bits, so that its product with an exponent is
// exact.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// logCoefficients are the coefficients of FreeBSD's e_log.c: log(1+f) = f - s·(f-R), s = f/(2+f), R
// a polynomial in s².
var logCoefficients = [...]float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
}

// Log returns the natural logarithm of x, which must be positive, normal and finite, to within 2
// ulps.
func Log(x float64) float64 {
	// x = 2ᵏ·(1+f), √½ ≤ 1+f < √2, by its bits and without a branch: draws take logarithms of
	// random numbers.
	above := math.Float64bits(x) - math.Float64bits(math.Sqrt2/2)
	f := math.Float64frombits(math.Float64bits(x)-above&^(1<<52-1)) - 1
	k := float64(int64(above) >> 52)
	s := f / (2 + f)
	s2 := float64(s * s)
	c := &logCoefficients
	r := float64(s2 * c[6])
	r = float64(s2 * (c[5] + r))
	r = float64(s2 * (c[4] + r))
	r = float64(s2 * (c[3] + r))
	r = float64(s2 * (c[2] + r))
	r = float64(s2 * (c[1] + r))
	r = float64(s2 * (c[0] + r))
	half := float64(float64(0.5*f) * f)
	tail := float64(s*(half+r)) + float64(k*ln2Lo)
	return float64(k*ln2Hi) - ((half - tail) - f)
}

// Narrow rounds v to float32, values beyond its range to the greatest finite one of their sign.
func Narrow(v float64) float32 {
	f := float32(v)
	if f-f != 0 { // infinite
		return float32(math.Copysign(math.MaxFloat32, v))
	}
	return f
}

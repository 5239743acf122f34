package portable

import "math"

// CauchyQuantile returns tan(π(u - ½)), below which a standard Cauchy variable lies with probability u, 0 < u < 1, to
// within a few ulps.
func CauchyQuantile(u float64) float64 {
	switch {
	case u < 0.25: // near a pole: -cot(πu)
		sin, cos := sinCos(float64(math.Pi * u))
		return -cos / sin
	case u > 0.75:
		sin, cos := sinCos(float64(math.Pi * (1 - u)))
		return cos / sin
	}
	sin, cos := sinCos(float64(math.Pi * (u - 0.5)))
	return sin / cos
}

// sineTerms is the number of terms of the series of sine and cosine: the next one is below 1e-19 for |x| ≤ π/4.
const sineTerms = 9

// sinCos returns the sine and the cosine of x, |x| ≤ π/4, by their power series.
func sinCos(x float64) (sin, cos float64) {
	x2 := float64(x * x)
	for n := float64(sineTerms - 1); n > 0; n-- {
		sin = float64(x2/float64(2*n*(2*n+1))) * (1 - sin)
		cos = float64(x2/float64(2*n*(2*n-1))) * (1 - cos)
	}
	return float64(x * (1 - sin)), 1 - cos
}

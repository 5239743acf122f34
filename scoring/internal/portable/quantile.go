package portable

import "math"

// The coefficients of algorithm AS 241, PPND16 (Wichura, Applied Statistics 37, 1988), lowest power
// first: numerator and denominator for the middle, for the shoulders and for the far tails.
var (
	middleNum = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3,
	}
	middleDen = [8]float64{
		1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3,
	}
	shoulderNum = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	shoulderDen = [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	tailNum = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	tailDen = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

// middle is the greatest distance from ½ at which the coefficients of the middle apply.
const middle = 0.425

// NormalQuantile returns the number below which a standard normal variable lies with probability u,
// 0 < u < 1, with a relative error of about 1e-16 (AS 241).
func NormalQuantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= middle {
		r := 0.180625 - float64(q*q)
		return float64(q*horner(&middleNum, r)) / horner(&middleDen, r)
	}
	r := u
	if q > 0 {
		r = 1 - u
	}
	r = math.Sqrt(-Log(r))
	var z float64
	if r <= 5 {
		z = horner(&shoulderNum, r-1.6) / horner(&shoulderDen, r-1.6)
	} else {
		z = horner(&tailNum, r-5) / horner(&tailDen, r-5)
	}
	if q < 0 {
		return -z
	}
	return z
}

// horner evaluates the polynomial with coefficients c, lowest power first, at x. Unrolled, it has
// no branch, so several evaluations overlap in the processor.
func horner(c *[8]float64, x float64) float64 {
	p := float64(c[7]*x) + c[6]
	p = float64(p*x) + c[5]
	p = float64(p*x) + c[4]
	p = float64(p*x) + c[3]
	p = float64(p*x) + c[2]
	p = float64(p*x) + c[1]
	return float64(p*x) + c[0]
}

package kernel

// The coefficients of c0 + c1·u + ... + c6·u⁶ ≈ cos 2πr with u = r² − ⅛, |r| ≤ ½: the least greatest error (1.1e-8) in
// exact arithmetic, then rounded to float32 and searched among the neighbours for the least greatest error of the
// float32 evaluation, with and without fused products.
const (
	cos0 float32 = -0.6056999564170837
	cos1 float32 = -7.070344924926758
	cos2 float32 = 38.05276107788086
	cos3 float32 = -59.168697357177734
	cos4 float32 = 45.46820831298828
	cos5 float32 = -21.070955276489258
	cos6 float32 = 6.5296549797058105
)

// roundBias added to |z| < 2²² and taken off again rounds z to a whole number, ties to even.
const roundBias float32 = 3 << 22

// maxTurns is the argument from which on float32 can only express the phases 0 and ½.
const maxTurns = 1 << 22

// Cos returns cos 2πz, z in turns. The error is at most 2.5e-7 for the z given (1.91e-7 in the vector kernels, which
// round a product and the addition to it once). A z that was itself rounded to float32 is off by up to half its last
// place, which costs |z|·3.7e-7 in the worst case: 1.9e-4 at 512 turns, 3.8e-4 at 1024 and everything at 2²², where
// neighbouring floats are half a turn apart. From there on, and for infinities and NaN, the result is 0, the mean over
// the phases that are no longer known: a candidate from a heavy-tailed distribution then scores as the noise that it
// is, where ±1 would have made it a constant that scores the mean label.
func Cos(z float32) float32 {
	if !(z < maxTurns && z > -maxTurns) {
		return 0
	}
	r := z - ((z + roundBias) - roundBias)
	u := float32(r*r) - 0.125
	p := cos6
	p = float32(p*u) + cos5
	p = float32(p*u) + cos4
	p = float32(p*u) + cos3
	p = float32(p*u) + cos2
	p = float32(p*u) + cos1
	return float32(p*u) + cos0
}

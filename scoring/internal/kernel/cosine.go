package kernel

// The coefficients of c0 + c1·u + ... + c6·u⁶ ≈ cos 2πr with u = r² − ⅛, |r| ≤ ½: the minimax
// polynomial (error 1.1e-8) in exact arithmetic, rounded to float32 and then searched among
// neighbouring coefficients for the smallest maximum error of the float32 evaluation, with and
// without fused products.
const (
	cos0 float32 = -0.6056999564170837
	cos1 float32 = -7.070344924926758
	cos2 float32 = 38.05276107788086
	cos3 float32 = -59.168697357177734
	cos4 float32 = 45.46820831298828
	cos5 float32 = -21.070955276489258
	cos6 float32 = 6.5296549797058105
)

// Adding and subtracting roundBias rounds |z| < 2²² to a whole number, ties to even.
const roundBias float32 = 3 << 22

// maxTurns is the argument beyond which float32 can only represent the phases 0 and ½.
const maxTurns = 1 << 22

// Cos returns cos 2πz, z in turns. For exact z the error is at most 2.5e-7 (1.91e-7 in the vector
// kernels, which round a product and its addition once). A z that was itself rounded to float32
// adds an error of up to |z|·3.7e-7: 1.9e-4 at 512 turns, 3.8e-4 at 1024, and total loss at 2²²,
// where neighbouring floats are half a turn apart. From there on, and for infinities and NaN, the
// result is 0, the mean over all phases: a candidate from a heavy-tailed distribution then scores
// as noise, whereas ±1 would make it a constant that scores the mean label.
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

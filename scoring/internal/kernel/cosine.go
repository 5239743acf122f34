package kernel

import "math"

// The coefficients of s·(c0 + c1·s² + ... + c4·s⁸) ≈ sin 2πs on |s| ≤ ¼: the least greatest error (3.4e-9) in
// exact arithmetic, then rounded to float32 and searched among the neighbours for the least greatest error of
// the float32 evaluation below.
const (
	sin0 float32 = 6.283185005187988
	sin1 float32 = -41.341651916503906
	sin2 float32 = 81.60100555419922
	sin3 float32 = -76.54991912841797
	sin4 float32 = 39.536705017089844
)

// roundBias added to |z| < 2²² and taken off again rounds z to a whole number, ties to even.
const roundBias float32 = 3 << 22

// maxTurns is the argument from which on float32 has no two phases to tell apart but 0 and ½.
const maxTurns float32 = 1 << 22

// Cos returns cos 2πz, z in turns. The error is at most 1.7e-7 for the z given. A z that was itself rounded to
// float32 is off by up to half its last place, which costs |z|·3.7e-7 in the worst case: 1.9e-4 at 512 turns,
// 3.8e-4 at 1024 and everything at 2²², where neighbouring floats are half a turn apart. From there on, and
// for infinities and NaN, the result is 0, the mean over the phases that are no longer known: a candidate from
// a heavy-tailed distribution then scores as the noise that it is, where ±1 would have made it a constant that
// scores the mean label.
func Cos(z float32) float32 {
	if !(z < maxTurns && z > -maxTurns) {
		return 0
	}
	r := z - ((z + roundBias) - roundBias)
	s := 0.25 - abs(r)
	v := float32(s * s)
	p := sin4
	p = float32(p*v) + sin3
	p = float32(p*v) + sin2
	p = float32(p*v) + sin1
	p = float32(p*v) + sin0
	return float32(p * s)
}

// abs clears the sign bit.
func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// cosines replaces each z in turns by its cosine.
func cosines(z []tile) {
	for i := range z {
		t := &z[i]
		for f := range t {
			t[f] = Cos(t[f])
		}
	}
}

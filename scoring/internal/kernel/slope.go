package kernel

// The coefficients of r·(s0 + s1·u + ... + s6·u⁶) ≈ −sin 2πr with u = r² − ⅛, |r| ≤ ½: the minimax
// polynomial (error 1.1e-9) in exact arithmetic, rounded to float32.
const (
	sin0 float32 = -2.2505602836608887
	sin1 float32 = 24.225139617919922
	sin2 float32 = -56.50227355957031
	sin3 float32 = 57.891700744628906
	sin4 float32 = -33.47321319580078
	sin5 float32 = 12.468840599060059
	sin6 float32 = -3.199693202972412
)

// Slope returns −sin 2πz, z in turns: the derivative of [Cos] by the argument in radians. For exact
// z the error is at most 2e-7 (1.5e-7 in the vector kernels). A rounded z costs as much as for Cos,
// and where Cos is 0 because the phase is lost, so is the slope.
func Slope(z float32) float32 {
	if !(z < maxTurns && z > -maxTurns) {
		return 0
	}
	r := z - ((z + roundBias) - roundBias)
	u := float32(r*r) - 0.125
	p := sin6
	p = float32(p*u) + sin5
	p = float32(p*u) + sin4
	p = float32(p*u) + sin3
	p = float32(p*u) + sin2
	p = float32(p*u) + sin1
	p = float32(p*u) + sin0
	return float32(p*r) + 0 // zero has one sign
}

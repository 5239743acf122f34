package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
)

// slopeError is the documented error of Slope for the argument given.
const slopeError = 2e-7

func TestSlopeIsWithinItsErrorOverOneTurn(t *testing.T) {
	const steps = 1 << 20
	worst := map[string]float64{}
	for i := -steps; i <= steps; i++ {
		z := float32(i) / (2 * steps)
		want := -math.Sin(2 * math.Pi * float64(z))
		worst["plain"] = max(worst["plain"], math.Abs(float64(Slope(z))-want))
		worst["fused"] = max(worst["fused"], math.Abs(float64(slopeReference(z, fused))-want))
	}
	t.Log(worst)
	if worst["plain"] > slopeError || worst["fused"] > 1.5e-7 {
		t.Errorf("errors %v", worst)
	}
}

// hostile are arguments that have no phase, or hardly one.
var hostile = []float32{
	0, float32(math.Copysign(0, -1)), 0.5, -0.5, 1, -1, 1 << 22, -1 << 22, 1<<22 - 0.5, 0.5 - 1<<22, 1e30, math.MaxFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.SmallestNonzeroFloat32,
}

func TestSlopeOfUnknowablePhasesIsZero(t *testing.T) {
	for _, z := range hostile {
		if s, c := Slope(z), Cos(z); c == 0 && s != 0 || math.Abs(float64(s)) > slopeError || math.Signbit(float64(s)) &&
			s == 0 {
			t.Errorf("slope at %v turns is %v, cosine %v", z, s, c)
		}
	}
}

// slopeReference is the loop of Slope with the arithmetic of a level.
func slopeReference(z float32, fma func(x, y, z float32) float32) float32 {
	if !(z < maxTurns && z > -maxTurns) {
		return 0
	}
	r := z - float32(math.RoundToEven(float64(z)))
	u := fma(r, r, -0.125)
	p := sin6
	for _, c := range []float32{sin5, sin4, sin3, sin2, sin1, sin0} {
		p = fma(p, u, c)
	}
	return fma(p, r, 0)
}

func TestSlopesHaveTheBitsOfTheirLoop(t *testing.T) {
	for _, level := range levels() {
		fma := arithmetic(level)
		checkSlopeBits(t, level, slopes, func(z float32) (phi, slope float32) {
			return cosReference(z, fma), slopeReference(z, fma)
		})
		checkSlopeBits(t, level, rampSlopes, func(z float32) (phi, slope float32) {
			if z > 0 {
				slope = 1
			}
			return positive(z), slope
		})
	}
}

// checkSlopeBits compares features and slopes of a kernel with a reference.
func checkSlopeBits(
	t *testing.T,
	level simd.Level,
	of func(simd.Level, []float32, int, []float32, int),
	want func(z float32) (phi, slope float32),
) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 7))
	for _, rows := range []int{1, 2, 3, 64} {
		for _, stride := range []int{Width, Width + 1, 200} {
			slope := guardSlice(rows*Width, func(i int) float32 {
				if i%7 == 0 {
					return hostile[rng.IntN(len(hostile))]
				}
				return float32(rng.NormFloat64() * math.Ldexp(1, rng.IntN(24)))
			})
			dst := guardSlice((rows-1)*stride+Width, func(int) float32 { return guardSign })
			z := slices.Clone(slope.inner())
			of(level, dst.inner(), stride, slope.inner(), rows)
			for i, v := range z {
				wantPhi, wantSlope := want(v)
				if got := dst.inner()[i/Width*stride+i%Width]; math.Float32bits(got) != math.Float32bits(wantPhi) {
					t.Fatalf("%v: feature of argument %v is %v, want %v", level, v, got, wantPhi)
				}
				if got := slope.inner()[i]; math.Float32bits(got) != math.Float32bits(wantSlope) {
					t.Fatalf("%v: slope at %v is %v, want %v", level, v, got, wantSlope)
				}
			}
			if !slope.intact() || !dst.intact() {
				t.Fatalf("%v, %d rows: wrote outside the destination", level, rows)
			}
		}
	}
}

// sin is the reference of a slope in float64.
func (p *problem) sin(row, feature int) float64 {
	z := float64(p.phase.inner()[feature])
	for k, v := range p.x.inner()[row*p.dim : (row+1)*p.dim] {
		z += float64(v) * float64(p.omega.inner()[feature*p.dim+k])
	}
	return -math.Sin(z)
}

func TestSlopesAgreeWithTheReference(t *testing.T) {
	for _, level := range levels() {
		for _, dim := range []int{1, 3, 17, 77, 193, 400} {
			for _, count := range counts {
				for _, rows := range []int{0, 1, 2, 9, chunkRows - 1, chunkRows + 3, 2*chunkRows + 1} {
					p := newProblem(level, Cosine, dim, count, rows)
					if dim%2 == 1 {
						p.sparseRows(rand.New(rand.NewPCG(3, uint64(dim))))
					}
					checkSlopes(t, p)
				}
			}
		}
	}
}

func checkSlopes(t *testing.T, p *problem) {
	t.Helper()
	const apart = 5 // rows of other owners behind those of a panel
	stride := (p.rows + apart) * Width
	z := guardSlice(p.rows*p.count, func(int) float32 { return guardSign })
	slope := guardSlice(p.panels.Count()*stride, func(int) float32 { return guardSign })
	Slopes(z.inner(), p.count, slope.inner(), stride, p.panels, p.x.inner())
	want := make([]float32, p.rows*p.count)
	Featurize(want, Set{p.panels}, p.x.inner(), slices.Repeat([]float32{1}, p.count))
	if i := sameBits(z.inner(), want); i >= 0 {
		t.Fatalf("%dx%dx%d: feature %d is %v, want %v", p.rows, p.dim, p.count, i, z.inner()[i], want[i])
	}
	for panel := range p.panels.Count() {
		own := slope.inner()[panel*stride:][:stride]
		for i, v := range own {
			row, f := i/Width, panel*Width+i%Width
			switch {
			case row >= p.rows:
				if v != guardSign {
					t.Fatalf("%dx%dx%d: wrote to row %d", p.rows, p.dim, p.count, row)
				}
			case f < p.count:
				if sin := p.sin(row, f); !p.close(float64(v), sin) {
					t.Fatalf("%dx%dx%d: slope of feature %d at row %d is %v, want %v", p.rows, p.dim, p.count, f, row, v, sin)
				}
			}
		}
	}
	if !z.intact() || !slope.intact() {
		t.Fatalf("%dx%dx%d: wrote outside the destination", p.rows, p.dim, p.count)
	}
}

func TestWeighAgreesWithTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, outputs := range []int{1, 2, 3, 10, 26} {
		for _, n := range []int{1, Width - 1, Width, Width + 1, 2*Width + 5} {
			for _, rows := range []int{1, 2, 3, 4, 5, 7, 8, 9, 17, 100} {
				checkWeigh(t, rng, outputs, n, rows)
			}
		}
	}
}

func checkWeigh(t *testing.T, rng *rand.Rand, outputs, n, rows int) {
	t.Helper()
	theta := make([]float64, n*outputs)
	for i := range theta {
		theta[i] = float64(float32(rng.NormFloat64()))
	}
	e := guardSlice(rows*outputs, func(int) float32 { return float32(rng.NormFloat64()) })
	weights := PackWeights(nil, theta, n, outputs)
	stride := (rows + 3) * Width
	before := guardSlice((n+Width-1)/Width*stride, func(int) float32 { return float32(rng.NormFloat64()) })
	whole := guarded[float32]{slices.Clone(before.all)}
	Weigh(whole.inner(), stride, e.inner(), weights, outputs)
	var vector []float32
	for _, level := range levels() {
		got := guarded[float32]{slices.Clone(before.all)}
		for panel := range len(weights) / (outputs * Width) {
			weigh(level, got.inner()[panel*stride:][:rows*Width], e.inner(), weights[panel*outputs*Width:][:outputs*Width],
				outputs)
		}
		for m := range n {
			for r := range rows {
				at := m/Width*stride + r*Width + m%Width
				sum, size := 0.0, 0.0
				for k := range outputs {
					term := float64(e.inner()[r*outputs+k]) * theta[k*n+m]
					sum, size = sum+term, size+math.Abs(term)
				}
				s := float64(before.inner()[at])
				if v := float64(got.inner()[at]); !(math.Abs(v-s*sum) <= float64(outputs+2)*0x1p-24*size*math.Abs(s)) {
					t.Fatalf("%v, %d rows, %d features, %d outputs: %v, want %v", level, rows, n, outputs, v, s*sum)
				}
			}
		}
		if !got.intact() || !e.intact() {
			t.Fatalf("%v: wrote outside the destination", level)
		}
		if level == simd.Best() && sameBits(got.all, whole.all) >= 0 {
			t.Fatal("Weigh differs from its loop")
		}
		if level == simd.None {
			continue
		}
		if vector != nil && sameBits(got.all, vector) >= 0 {
			t.Fatalf("%v: other bits", level)
		}
		vector = got.all
	}
}

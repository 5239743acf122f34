package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
)

// fused is x·y + z rounded once to float32. The product is exact in float64; the sum is rounded to
// odd there (Boldo, Melquiond, IEEE Transactions on Computers 57 (2008)), after which rounding to
// float32 is right.
func fused(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	back := s - p
	lost := (p - (s - back)) + (c - back) // what the sum lost, exactly (Knuth's two-sum)
	if lost != 0 && math.Float64bits(s)&1 == 0 && !math.IsInf(s, 0) {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), lost))
	}
	return float32(s)
}

// unfused is x·y + z rounded twice.
func unfused(x, y, z float32) float32 { return float32(x*y) + z }

// arithmetic is the multiplication and addition of a level.
func arithmetic(level simd.Level) func(x, y, z float32) float32 {
	if level == simd.None {
		return unfused
	}
	return fused
}

// cosReference is the loop of Cos with the arithmetic of a level.
func cosReference(z float32, fma func(x, y, z float32) float32) float32 {
	if !(z < maxTurns && z > -maxTurns) {
		return 0
	}
	r := z - float32(math.RoundToEven(float64(z)))
	u := fma(r, r, -0.125)
	p := cos6
	for _, c := range []float32{cos5, cos4, cos3, cos2, cos1, cos0} {
		p = fma(p, u, c)
	}
	return p
}

// applyReference is the result of an operation on z.
func applyReference(op operation, z float32, fma func(x, y, z float32) float32) float32 {
	switch op {
	case raw:
		return z
	case cosine, cosineFar:
		return cosReference(z, fma)
	case step:
		return heaviside(z)
	case ramp:
		return positive(z)
	default:
		v := positive(z)
		return min(v*v, math.MaxFloat32)
	}
}

// runReference is the loop in the documentation of call.
func (c *call) runReference(fma func(x, y, z float32) float32) {
	for r := range c.rows {
		for f := range Width {
			z := c.init[r*c.initStride+f]
			for k := range len(c.weights) / Width {
				z = fma(c.x[r*c.xStride+k], c.weights[k*Width+f], z)
			}
			v := applyReference(c.op, z, fma)
			if c.factor != nil {
				v *= c.factor[f]
			}
			c.dst[r*c.dstStride+f] = v
		}
	}
}

// sameBits reports the first number in which two slices differ, NaN being like NaN; −1 for none.
func sameBits(a, b []float32) int {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) && !(a[i] != a[i] && b[i] != b[i]) {
			return i
		}
	}
	return -1
}

var operations = []operation{raw, cosine, cosineFar, step, ramp, squaredRamp}

// newCall draws the arguments of a call; wild puts infinities, NaN and huge numbers among them.
func newCall(rng *rand.Rand, op operation, dim, rows int, factor, wild bool) (*call, []guarded[float32]) {
	xStride, dstStride := dim+rng.IntN(3), Width+rng.IntN(3)
	draw := func(int) float32 { return float32(rng.NormFloat64()) }
	zeros := []float64{0, 0.5, 0.95}[rng.IntN(3)]
	numbers := func(i int) float32 {
		if rng.Float64() < zeros {
			return float32(math.Copysign(0, rng.Float64()-0.5))
		}
		return draw(i)
	}
	if wild {
		ordinary := numbers
		hostile := []float32{
			float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, -1e30, 1 << 22, 0,
		}
		numbers = func(i int) float32 {
			if rng.IntN(2*dim+2) == 0 {
				return hostile[rng.IntN(len(hostile))]
			}
			return ordinary(i)
		}
	}
	x := guardSlice((rows-1)*xStride+dim, numbers)
	w := guardSlice(dim*Width, draw)
	dst := guardSlice((rows-1)*dstStride+Width, func(int) float32 { return guardSign })
	begin := func(i int) float32 { return []float32{0, float32(math.Copysign(0, -1)), draw(i), draw(i)}[rng.IntN(4)] }
	init, initStride := guardSlice(Width, begin), 0
	if rng.IntN(2) == 0 {
		init, initStride = guardSlice(rows*Width, begin), Width
	}
	c := &call{
		dst: dst.inner(), init: init.inner(), x: x.inner(), weights: w.inner(),
		dstStride: dstStride, initStride: initStride, xStride: xStride, rows: rows, op: op,
	}
	all := []guarded[float32]{x, w, dst, init}
	if factor {
		f := guardSlice(Width, draw)
		c.factor, all = f.inner(), append(all, f)
	}
	return c, all
}

func TestTilesHaveTheBitsOfTheirLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, level := range levels() {
		for _, op := range operations {
			for _, dim := range append(dims, 2, 5) {
				for _, rows := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17} {
					checkCall(t, rng, level, op, dim, rows)
				}
			}
		}
	}
}

// Featurize is [Set.Featurize] of rows next to each other.
func Featurize(dst []float32, s Set, x, factor []float32) { s.Featurize(dst, s.Len(), x, factor) }

func checkCall(t *testing.T, rng *rand.Rand, level simd.Level, op operation, dim, rows int) {
	t.Helper()
	c, guards := newCall(rng, op, dim, rows, rng.IntN(2) == 0, op != cosine && rng.IntN(3) == 0)
	got := append([]float32(nil), c.dst...)
	inputs := append(append([]float32(nil), c.x...), c.weights...)
	c.runReference(arithmetic(level))
	want := append([]float32(nil), c.dst...)
	copy(c.dst, got)
	c.run(level)
	if i := sameBits(c.dst, want); i >= 0 {
		t.Fatalf("%v, operation %d, %dx%d: element %d is %v, want %v", level, op, rows, dim, i, c.dst[i], want[i])
	}
	copy(c.dst, got)
	c.listed(level).run(level)
	if i := c.otherListed(want); i >= 0 {
		t.Fatalf("%v, operation %d, %dx%d listed: element %d is %v, want %v", level, op, rows, dim, i, c.dst[i], want[i])
	}
	if sameBits(inputs, append(append([]float32(nil), c.x...), c.weights...)) >= 0 {
		t.Fatalf("%v, operation %d, %dx%d: changed its input", level, op, rows, dim)
	}
	for _, g := range guards {
		if !g.intact() {
			t.Fatalf("%v, operation %d, %dx%d: wrote outside the destination", level, op, rows, dim)
		}
	}
}

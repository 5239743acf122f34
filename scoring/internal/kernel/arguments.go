package kernel

import (
	"fmt"

	"github.com/eerf-stream/eerf/internal/simd"
)

// Arguments are what the features of some rows are the map of, computed elsewhere.
type Arguments struct {
	// Map is not Coordinate. For Cosine, Z is in turns.
	Map Map
	// Z has those of row r from r·Stride on, [Rows·Stride]. Stride is at least the number of features rounded up to a
	// multiple of Width; the numbers between do not matter.
	Z            []float32
	Stride, Rows int
}

// check panics unless there are arguments for n features, and returns what becomes of them.
func (a *Arguments) check(level simd.Level, n int) operation {
	if a.Map == Coordinate || len(a.Z) < a.Rows*a.Stride || a.Stride < (n+Width-1)/Width*Width {
		panic(fmt.Sprintf("kernel: %d arguments in rows of %d for %d features", len(a.Z), a.Stride, n))
	}
	// Where every argument is below maxTurns the operation need not look.
	p := Panels{Map: a.Map, reach: []float32{maxTurns}}
	largest, _ := survey(level, a.Z[:a.Rows*a.Stride])
	return p.operation(0, largest)
}

// Apply is the end of [Featurize]: dst[r·n + f] = factor[f]·φ(Z[r·Stride + f]) for the n = len(factor) features f. dst and Z do
// not overlap.
func Apply(dst []float32, a Arguments, factor []float32) {
	level, n := simd.Best(), len(factor)
	op := a.check(level, n)
	if len(dst) < a.Rows*n {
		panic("kernel: fewer numbers than features")
	}
	at := 0
	for ; at+Width <= n && a.Rows > 0; at += Width {
		a.apply(level, op, dst[at:], n, at, 0, a.Rows, factor[at:at+Width])
	}
	// The last panel is not full, and is written wider than dst has room for.
	var wide [lastRows * Width]float32
	for i := 0; i < a.Rows && at < n; i += lastRows {
		k := min(lastRows, a.Rows-i)
		a.apply(level, op, wide[:], Width, at, i, k, nil)
		for r := range k {
			to := dst[(i+r)*n+at : (i+r+1)*n]
			for f, scale := range factor[at:] {
				to[f] = float32(scale * wide[r*Width+f])
			}
		}
	}
}

// apply writes the features of a panel, from feature at on, for rows from row first on.
func (a *Arguments) apply(level simd.Level, op operation, dst []float32, stride, at, first, rows int, factor []float32) {
	c := call{
		dst: dst, dstStride: stride, init: a.Z[first*a.Stride+at:], initStride: a.Stride, rows: rows, factor: factor, op: op,
	}
	c.run(level)
}

// ScoreArguments is the end of [Score]: it adds the rows to the sums of the len(dst.Phi) features.
func ScoreArguments(dst Sums, a Arguments, t Targets) {
	if t.Values == nil {
		t.check()
	}
	level, n := simd.Best(), len(dst.Phi)
	op := a.check(level, n)
	var memory [scoreRows*Width + cacheLine/4]float32
	phi := aligned(memory[:])
	for at := 0; at < n; at += Width {
		part := dst.widen(at, t.Outputs)
		for i := 0; i < a.Rows; i += scoreRows {
			k := min(scoreRows, a.Rows-i)
			a.apply(level, op, phi, Width, at, i, k, nil)
			total{part.Phi, part.PhiSq, part.YPhi, part.Stride}.add(level, phi, k, t.slice(i, i+k))
		}
		dst.take(part, at, t.Outputs)
	}
}

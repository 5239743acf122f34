package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/internal/simd"
)

// sparseNumber is mostly a zero of either sign.
func sparseNumber(rng *rand.Rand) float32 {
	switch rng.IntN(20) {
	case 0, 1:
		return float32(rng.NormFloat64())
	case 2:
		return float32(math.Copysign(0, -1))
	default:
		return 0
	}
}

// listed returns c with the numbers of its rows in one list.
func (c *call) listed(level simd.Level) *call {
	dim := len(c.weights) / Width
	x := make([]float32, 0, c.rows*dim)
	for r := range c.rows {
		x = append(x, c.x[r*c.xStride:][:dim]...)
	}
	var l lists
	l.fill(level, x, dim, dim)
	with := *c
	with.x = nil
	with.entries = l.entries
	with.begin = l.begin
	return &with
}

// otherListed is sameBits for listed rows, where an argument of zero may have the other sign.
func (c *call) otherListed(want []float32) int {
	for i, v := range c.dst {
		if v != want[i] || c.op != raw {
			if sameBits(c.dst[i:i+1], want[i:i+1]) >= 0 {
				return i
			}
		}
	}
	return -1
}

func TestListsContainTheNonzeroNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var l lists // the memory of an earlier call makes no difference
	for _, level := range levels() {
		for _, dim := range append(dims, 2, 130, 191) {
			for _, rows := range []int{1, 2, 3, 8, 9, 64} {
				for _, width := range []int{dim, 1 + rng.IntN(dim)} {
					x := make([]float32, rows*dim)
					share := rng.Float64()
					for i := range x {
						x[i] = sparseNumber(rng)
						if rng.Float64() < share {
							x[i] = []float32{1, float32(math.NaN()), 1e-45}[rng.IntN(3)]
						}
					}
					l.fill(level, x, dim, width)
					checkLists(t, &l, x, dim, width)
				}
			}
		}
	}
}

// checkLists compares lists with a loop over all numbers.
func checkLists(t *testing.T, l *lists, x []float32, dim, width int) {
	t.Helper()
	rows := len(x) / dim
	for r := range rows {
		for piece := range l.pieces {
			begin := l.begin[piece*l.stride+r:]
			list := l.entries[begin[0]:begin[1]]
			var want []entry
			for k := piece * width; k < min((piece+1)*width, dim); k++ {
				if v := x[r*dim+k]; v != 0 {
					want = append(want, newEntry(v, k))
				}
			}
			if len(list) < len(want) || !slices.Equal(list[:len(want)], want) ||
				slices.ContainsFunc(list[len(want):], func(e entry) bool {
					return e != 0
				}) {
				t.Fatalf("%dx%d in pieces of %d: piece %d of row %d is %v, want %v", rows, dim, width, piece, r, list, want)
			}
			if neighbour := l.begin[piece*l.stride+(r^1):]; r^1 < rows && neighbour[1]-neighbour[0] != uint32(len(list)) {
				t.Fatalf("%dx%d in pieces of %d: lists of row %d and its neighbour differ in length", rows, dim, width, r)
			}
		}
	}
}

// sparseRows replaces most numbers of p by zeros.
func (p *problem) sparseRows(rng *rand.Rand) []float32 {
	x := p.x.inner()
	for i := range x {
		if rng.IntN(10) > 0 {
			x[i] = float32(math.Copysign(0, rng.Float64()-0.5))
		}
	}
	return x
}

func TestListedRowsGiveTheBitsOfDenseRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 5))
		level := rapid.SampledFrom(levels()).Draw(rt, "level")
		m := rapid.SampledFrom(maps[:4]).Draw(rt, "map")
		dim := rapid.SampledFrom([]int{20, 64, listedDim, listedDim + 1, 3*listedDim + 5}).Draw(rt, "dim")
		count, rows := rapid.IntRange(2*Width+1, 4*Width+3).Draw(rt, "features"), rapid.IntRange(1, 3*scoreRows).Draw(rt,
			"rows")
		p := newProblem(level, m, dim, count, rows)
		x, factor := p.sparseRows(rng), random(count)
		targets := drawTargets(rng, rows, rapid.IntRange(1, 3).Draw(rt, "outputs"), rapid.Bool().Draw(rt, "classes"))
		var sums [2]Sums
		var features [2][]float32
		for i, listed := range []bool{true, false} {
			p.panels.finite = listed // others are not listed
			sums[i], features[i] = zeroSums(count, targets.Outputs), make([]float32, rows*count)
			Score(sums[i], p.panels, 0, p.panels.Count(), x, targets)
			Featurize(features[i], Set{p.panels}, x, factor)
		}
		if !slices.Equal(sums[0].all(), sums[1].all()) || sameBits(features[0], features[1]) >= 0 {
			rt.Fatal("other bits by lists than by all numbers")
		}
	})
}

// TestZeroTimesInfinityIsNotSkipped: an infinite weight makes the argument NaN wherever the row has
// a zero.
func TestZeroTimesInfinityIsNotSkipped(t *testing.T) {
	const dim, count = 40, 3 * Width
	omega := random(count * dim)
	for i := range count {
		omega[i*dim+7] = float32(math.Inf(1))
	}
	for _, level := range levels() {
		p := packFor(level, Cosine, dim, omega, make([]float32, count))
		dst := make([]float32, count)
		Featurize(dst, Set{p}, make([]float32, dim), slices.Repeat([]float32{1}, count))
		if p.lists(dim, dim) || slices.ContainsFunc(dst, func(v float32) bool { return v != 0 }) {
			t.Errorf("%v: features are %v", level, dst[:4])
		}
		p.Repack(random(count*dim), make([]float32, count))
		if !p.lists(dim, dim) {
			t.Errorf("%v: finite weights are not known to be", level)
		}
	}
}

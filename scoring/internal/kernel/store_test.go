package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fillStore scores the rows of a problem, in two blocks, from panel first on, and keeps their
// features from panel 1 of the store on.
func fillStore(s *Store, p *problem, first int, x []float32, targets Targets) Sums {
	sums, half := zeroSums(p.count, targets.Outputs), p.rows/2
	for _, part := range [][2]int{{0, half}, {half, p.rows}} {
		if part[0] == part[1] {
			continue
		}
		r := p.panels.Rows(x[part[0]*p.dim : part[1]*p.dim])
		r.List(0, r.Groups())
		r.Fill(s, 1, part[0], sums, p.panels, first, p.panels.Count(), targets.slice(part[0], part[1]))
		r.Release()
	}
	return sums
}

func TestStoredFeaturesAreScoredWithTheBitsOfComputedOnes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 6))
		level := rapid.SampledFrom(levels()).Draw(rt, "level")
		m := rapid.SampledFrom(maps).Draw(rt, "map")
		dim := rapid.SampledFrom([]int{1, 7, 17, 64, chunkDim + 1, listedDim + 1}).Draw(rt, "dim")
		count, rows := rapid.IntRange(1, 3*Width+3).Draw(rt, "features"), rapid.IntRange(1, 3*scoreRows).Draw(rt, "rows")
		p := newProblem(level, m, dim, count, rows)
		x := p.x.inner()
		if m != Coordinate && rapid.Bool().Draw(rt, "sparse") {
			p.sparseRows(rng)
		}
		first := rapid.IntRange(0, p.panels.Count()-1).Draw(rt, "first panel")
		s := NewStore(1+p.panels.Count()-first, rows)
		for _, classes := range []bool{false, true} { // the second time over what is there
			targets, others := drawTargets(rng, rows, 1+rng.IntN(3), classes), drawTargets(rng, rows, 1+rng.IntN(3), false)
			got, want := fillStore(s, p, first, x, targets), zeroSums(count, targets.Outputs)
			Score(want, p.panels, first, p.panels.Count(), x, targets)
			if !slices.Equal(got.all(), want.all()) {
				rt.Fatal("other bits where features are kept")
			}
			got, want = zeroSums(count, others.Outputs), zeroSums(count, others.Outputs)
			cut := rapid.IntRange(0, rows).Draw(rt, "row between two calls")
			s.Score(1, 0, cut, got, p.panels, first, p.panels.Count(), others.slice(0, cut))
			s.Score(1, cut, rows-cut, got, p.panels, first, p.panels.Count(), others.slice(cut, rows))
			Score(want, p.panels, first, p.panels.Count(), x, others)
			if !slices.Equal(got.all(), want.all()) {
				rt.Fatal("other bits from memory")
			}
		}
		if slices.ContainsFunc(s.at(0, 0, rows), func(v float32) bool { return v != 0 }) {
			rt.Fatal("wrote to another panel")
		}
	})
}

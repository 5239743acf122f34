package scoring

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestRowsOfZerosAreScoredAlikeHoweverTheyAreShared: rows that the kernels list are listed once for all candidates, by
// several goroutines, or anew for every shard that is drawn.
func TestRowsOfZerosAreScoredAlikeHoweverTheyAreShared(t *testing.T) {
	const rows, dim = 2000, 80 // enough for both lists and scores to be shared out
	c := candidatesOf(MapCosine, dim, 300)
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, rows*dim)
	for i := range x {
		if rng.IntN(8) == 0 {
			x[i] = float32(rng.NormFloat64())
		}
	}
	targets := classTargets(rows, 3)
	score := func(memory int64, step int) []float64 {
		a := NewAccumulator(NewBank(c, BankOptions{Memory: memory}), NewSums(c.Count, targets.Outputs))
		for first := 0; first < rows; first += step {
			next := min(first+step, rows)
			a.Add(x[first*dim:next*dim], next-first, targets.Slice(first, next))
		}
		s := a.Sums()
		return slices.Concat(s.Phi, s.PhiSq, s.YPhi)
	}
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	want := score(0, rows)
	if !slices.Equal(score(1, rows), want) {
		t.Error("other sums where candidates are drawn")
	}
	if !slices.Equal(score(0, 7), want) {
		t.Error("other sums in small messages")
	}
	runtime.GOMAXPROCS(1)
	if !slices.Equal(score(0, rows), want) {
		t.Error("other sums on one processor")
	}
}

package methods

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestDrawsWithoutReplacementFollowTheProportions compares the first two draws with the definition.
func TestDrawsWithoutReplacementFollowTheProportions(t *testing.T) {
	const seeds = 20000
	p := []float64{1, 0, 3, 6}
	counts := map[[2]int32]float64{}
	for seed := range uint64(seeds) {
		drawn := drawWithoutReplacement(p, 3, seed)
		if !slices.Equal(sorted(drawn), []int32{0, 2, 3}) {
			t.Fatalf("drew %v", drawn)
		}
		counts[[2]int32{drawn[0], drawn[1]}] += 1.0 / seeds
	}
	for i, a := range p {
		for j, b := range p {
			if i == j || a*b == 0 {
				continue
			}
			want := a / 10 * b / (10 - a)
			near(t, fmt.Sprint("share of ", i, j), counts[[2]int32{int32(i), int32(j)}], want, 5*math.Sqrt(want/seeds))
		}
	}
	if all := drawWithoutReplacement(p, 4, 1); all[3] != 1 {
		t.Errorf("drew %v, want numbers with probability 0 last", all)
	}
}

func sorted(v []int32) []int32 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v
}

func TestIndependentDrawsSkipZeroProbabilities(t *testing.T) {
	for seed := range uint64(50) {
		counts := drawIndependently([]float64{0, 1e-300, 0, 1e-300, 0}, 100, seed)
		if counts[0]+counts[2]+counts[4] != 0 || counts[1]+counts[3] != 100 {
			t.Fatalf("counts %v", counts)
		}
	}
}

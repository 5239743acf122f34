package hadamard

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestAllLevelsGatherToEqualBits(t *testing.T) {
	z := normals(1, 500)
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		index := make([]int32, n)
		for j := range index {
			index[j] = int32(rng.IntN(len(z)))
		}
		shift := normals(2, n)
		want := make([]float32, n)
		for j, i := range index {
			product := z[i] * 0.3
			want[j] = float32(product) + shift[j]
		}
		for _, level := range levels() {
			all, got := guarded(n)
			gatherAt(level, got, z, index, shift, 0.3)
			equalBits(t, fmt.Sprintf("%v n=%d", level, n), got, want)
			checkGuards(t, level.String(), all)
		}
	}
}

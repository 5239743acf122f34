package hadamard

import (
	"fmt"

	"github.com/eerf-stream/eerf/internal/simd"
)

// Gather sets dst[j] = z[index[j]]·scale + shift[j], the product rounded before it is added. Every index must be within
// z, which is not checked.
func Gather(dst, z []float32, index []int32, shift []float32, scale float32) {
	if len(index) != len(dst) || len(shift) != len(dst) {
		panic(fmt.Sprintf("hadamard: %d numbers for %d indices and %d shifts", len(dst), len(index), len(shift)))
	}
	gatherAt(simd.Best(), dst, z, index, shift, scale)
}

// gatherAt is Gather with the instructions of a level.
func gatherAt(level simd.Level, dst, z []float32, index []int32, shift []float32, scale float32) {
	n := gatherVectors(level, dst, z, index, shift, scale)
	gatherGo(dst[n:], z, index[n:], shift[n:], scale)
}

// gatherGo is the arithmetic of Gather.
func gatherGo(dst, z []float32, index []int32, shift []float32, scale float32) {
	index, shift = index[:len(dst)], shift[:len(dst)]
	for j := range dst {
		dst[j] = float32(z[index[j]]*scale) + shift[j]
	}
}

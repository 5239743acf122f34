//go:build amd64 && !noasm

package hadamard

import "github.com/eerf-stream/eerf/internal/simd"

// The numbers in a vector.
const (
	lanesAVX512 = 16
	lanesAVX2   = 8
)

// transformVectors transforms rows of at least one vector by assembly.
func transformVectors(level simd.Level, dst, src, diag []float32, n int) {
	switch {
	case len(dst) == 0:
	case level == simd.AVX512 && n >= lanesAVX512:
		transformAVX512(&dst[0], &src[0], &diag[0], n, len(dst)/n)
	case level >= simd.AVX2 && n >= lanesAVX2:
		transformAVX2(&dst[0], &src[0], &diag[0], n, len(dst)/n)
	default:
		transformGo(dst, src, diag, n)
	}
}

// gatherVectors does whole vectors by assembly and returns how many numbers they were.
func gatherVectors(level simd.Level, dst, z []float32, index []int32, shift []float32, scale float32) int {
	switch {
	case level == simd.AVX512 && len(dst) >= lanesAVX512:
		n := len(dst) &^ (lanesAVX512 - 1)
		gatherAVX512(&dst[0], &z[0], &index[0], &shift[0], n, scale)
		return n
	case level >= simd.AVX2 && len(dst) >= lanesAVX2:
		n := len(dst) &^ (lanesAVX2 - 1)
		gatherAVX2(&dst[0], &z[0], &index[0], &shift[0], n, scale)
		return n
	}
	return 0
}

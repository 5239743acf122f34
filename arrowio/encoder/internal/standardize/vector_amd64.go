//go:build amd64 && !noasm

package standardize

import (
	"unsafe"

	"github.com/eerf-stream/eerf/internal/simd"
)

// columnVector is Column in vectors, if the processor and the length allow.
func columnVector[T float32 | float64](dst []float32, src []T, shift, times float64, bound float32) (int, bool) {
	if simd.Best() < simd.AVX2 || len(dst) < Lanes {
		return 0, false
	}
	from := unsafe.Pointer(&src[0])
	if isFloat32[T]() {
		return columnFloat32(&dst[0], (*float32)(from), shift, times, bound, len(dst)), true
	}
	return columnFloat64(&dst[0], (*float64)(from), shift, times, bound, len(dst)), true
}

// rowVector is Row in vectors, if the processor and the length allow.
func rowVector[T float32 | float64](dst []float32, src []T, shift, times []float64, bound float32) (int, bool) {
	if simd.Best() < simd.AVX2 || len(dst) < Lanes {
		return 0, false
	}
	from := unsafe.Pointer(&src[0])
	if isFloat32[T]() {
		return rowFloat32(&dst[0], (*float32)(from), &shift[0], &times[0], bound, len(dst)), true
	}
	return rowFloat64(&dst[0], (*float64)(from), &shift[0], &times[0], bound, len(dst)), true
}

//go:build amd64 && !noasm

package dots

import "github.com/eerf-stream/eerf/internal/simd"

// tile writes the lanes of tileRows rows and one or two outputs.
func tile(level simd.Level, sum, theta []float64, z []float32, outputs, m, terms int) {
	switch {
	case level == simd.AVX512 && outputs == 1:
		dots4x1AVX512(&sum[0], &theta[0], m, &z[0], m, terms)
	case level == simd.AVX512:
		dots4x2AVX512(&sum[0], &theta[0], m, &z[0], m, terms)
	case level == simd.AVX2 && outputs == 1:
		dots4x1AVX2(&sum[0], &theta[0], m, &z[0], m, terms)
	case level == simd.AVX2:
		dots2x2AVX2(&sum[0], &theta[0], m, &z[0], m, terms)
		dots2x2AVX2(&sum[2*tileOutputs*lanes], &theta[0], m, &z[2*m], m, terms)
	default:
		dotsGo(sum, theta, z, tileRows, outputs, m, terms)
	}
}

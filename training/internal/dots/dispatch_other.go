//go:build !amd64 || noasm

package dots

import "github.com/eerf-stream/eerf/internal/simd"

func tile(_ simd.Level, sum, theta []float64, z []float32, outputs, m, terms int) {
	dotsGo(sum, theta, z, tileRows, outputs, m, terms)
}

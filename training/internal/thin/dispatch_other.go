//go:build !amd64 || noasm

package thin

import "github.com/eerf-stream/eerf/internal/simd"

func products(_ simd.Level, c []float64, a []float32, aTerm, aRow int, b []float32, terms int) {
	productsGo(c, a, aTerm, aRow, b, terms)
}

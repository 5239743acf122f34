//go:build amd64 && !noasm

package thin

import "github.com/eerf-stream/eerf/internal/simd"

// avx2Rows is the number of rows of a tile that the AVX2 loop takes at a time.
const avx2Rows = 4

func products(level simd.Level, c []float64, a []float32, aTerm, aRow int, b []float32, terms int) {
	switch level {
	case simd.AVX512:
		productsAVX512(&c[0], &a[0], aTerm, aRow, &b[0], terms)
	case simd.AVX2:
		for i := 0; i < TileRows; i += avx2Rows {
			productsAVX2(&c[i*Columns], &a[i*aRow], aTerm, aRow, &b[0], terms)
		}
	default:
		productsGo(c, a, aTerm, aRow, b, terms)
	}
}

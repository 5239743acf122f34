//go:build amd64 && !noasm

package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// avx2Rows is the number of rows of a tile that the AVX2 loops take at a time.
const avx2Rows = 4

func products(level simd.Level, c []float64, a, b []float32, rows, from, to int) {
	switch level {
	case simd.AVX512:
		productsAVX512(&c[from], &a[0], &b[from], rows, to-from)
	case simd.AVX2:
		for i := 0; i < TileRows; i += avx2Rows {
			productsAVX2(c[i*PanelColumns:], a[i:], b, rows, from, to)
		}
	default:
		productsGo(c, a, b, rows, from, to)
	}
}

func productsAVX512(c *float64, a, b *float32, rows, columns int) {
	switch columns {
	case 16:
		products16AVX512(c, a, b, rows)
	case 32:
		products32AVX512(c, a, b, rows)
	default:
		products48AVX512(c, a, b, rows)
	}
}

func productsAVX2(c []float64, a, b []float32, rows, from, to int) {
	if to-from == PanelColumns {
		products24AVX2(&c[0], &a[0], &b[0], rows)
		products24AVX2(&c[24], &a[0], &b[24], rows)
		return
	}
	for j := from; j < to; j += VectorColumns {
		products16AVX2(&c[j], &a[0], &b[j], rows)
	}
}

func code(level simd.Level, dst []float32, stride int, src, shift, scale []float32, panels int) float32 {
	switch level {
	case simd.AVX512:
		return codeAVX512(&dst[0], stride, &src[0], &shift[0], &scale[0], panels)
	case simd.AVX2:
		return codeAVX2(&dst[0], stride, &src[0], &shift[0], &scale[0], panels)
	default:
		return codeGo(dst, stride, src, shift, scale, panels)
	}
}

func subtract(level simd.Level, c, a []float64, aRow, aColumn int, b []float64, n int) {
	switch level {
	case simd.AVX512:
		subtractAVX512(&c[0], &a[0], aRow, aColumn, &b[0], n)
	case simd.AVX2:
		for i := 0; i < TileRows; i += avx2Rows {
			for j := 0; j < StripColumns; j += StripColumns / 2 {
				subtractAVX2(&c[i*StripColumns+j], &a[i*aColumn], aRow, aColumn, &b[j], n)
			}
		}
	default:
		subtractGo(c, a, aRow, aColumn, b, n)
	}
}

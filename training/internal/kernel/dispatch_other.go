//go:build !amd64 || noasm

package kernel

import "github.com/eerf-stream/eerf/internal/simd"

func products(_ simd.Level, c []float64, a, b []float32, rows, from, to int) {
	productsGo(c, a, b, rows, from, to)
}

func code(_ simd.Level, dst []float32, stride int, src, shift, scale []float32, panels int) float32 {
	return codeGo(dst, stride, src, shift, scale, panels)
}

func subtract(_ simd.Level, c, a []float64, aRow, aColumn int, b []float64, n int) {
	subtractGo(c, a, aRow, aColumn, b, n)
}

//go:build !amd64 || noasm

package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// run computes the loop of c.
func (c *call) run(simd.Level) {
	c.check()
	c.runPlain()
}

// tileRows is the number of rows in a tile of score.
const tileRows = 8

// fuses reports false: score needs vector instructions.
func (p *Panels) fuses(Targets) bool { return false }

// score panics: it needs vector instructions.
func (c *call) score([]float32, total, Targets) { panic("kernel: no fused scoring at this level") }

// addValues is addValuesPlain.
func (t total) addValues(_ simd.Level, phi []float32, rows int, y []float32, stride int) {
	t.addValuesPlain(phi, rows, y, stride)
}

// addProducts is addProductsPlain.
func addProducts(_ simd.Level, product []float64, phi []float32, rows int, y []float32, stride int) {
	addProductsPlain(product, phi, rows, y, stride)
}

// addClasses is addClassesPlain.
func (t total) addClasses(_ simd.Level, phi []float32, class []int32, _ int) {
	t.addClassesPlain(phi, class)
}

// survey is surveyPlain.
func survey(_ simd.Level, x []float32) (largest float32, zeros int) { return surveyPlain(x) }

// markNonzero is markNonzeroPlain.
func markNonzero(_ simd.Level, words []uint64, x []float32) { markNonzeroPlain(words, x) }

// slopes is slopesPlain.
func slopes(_ simd.Level, dst []float32, dstStride int, slope []float32, rows int) {
	slopesPlain(dst, dstStride, slope, rows)
}

// rampSlopes is rampSlopesPlain.
func rampSlopes(_ simd.Level, dst []float32, dstStride int, slope []float32, rows int) {
	rampSlopesPlain(dst, dstStride, slope, rows)
}

// weigh is weighPlain.
func weigh(_ simd.Level, slope, e, weights []float32, outputs int) {
	weighPlain(slope, e, weights, outputs)
}

// productsOfRow is productsOfRowPlain.
func productsOfRow(_ simd.Level, dst []float32, records []record, factor, row []float32) {
	productsOfRowPlain(dst, records, factor, row)
}

// productsOfBlock panics: it needs vector instructions.
func productsOfBlock(_ simd.Level, _ []float32, _ []record, _, _ []float32, _ int) {
	panic("kernel: no products of blocks at this level")
}

// transpose is transposePlain.
func transpose(_ simd.Level, dst []float32, dstStride int, src []float32, srcStride, rows, columns int) {
	transposePlain(dst, dstStride, src, srcStride, rows, columns)
}

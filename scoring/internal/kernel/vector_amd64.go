//go:build amd64 && !noasm

package kernel

//go:generate go run -C ../../../internal/tools ./asm/tile -out ../../scoring/internal/kernel/tile_amd64.s -stubs ../../scoring/internal/kernel/tile_amd64.go -pkg kernel

import (
	"math"
	"unsafe"

	"github.com/eerf-stream/eerf/internal/simd"
)

// run computes the loop of c.
func (c *call) run(level simd.Level) {
	c.check()
	if level == simd.None {
		c.runPlain()
		return
	}
	var factor *float32
	if c.factor != nil {
		factor = &c.factor[0]
	}
	if c.begin != nil {
		c.runListed(level, factor)
		return
	}
	x, weights := first(c.x), first(c.weights)
	dim, op := len(c.weights)/Width, int(c.op)
	if level == simd.AVX512 {
		featuresAVX512(&c.dst[0], c.dstStride, &c.init[0], c.initStride, x, c.xStride, weights, dim, c.rows, factor, op)
		return
	}
	featuresAVX2(&c.dst[0], c.dstStride, &c.init[0], c.initStride, x, c.xStride, weights, dim, c.rows, factor, op)
}

// runListed is run for listed rows.
func (c *call) runListed(level simd.Level, factor *float32) {
	list := c.list()
	if level == simd.AVX512 {
		sparseAVX512(&c.dst[0], c.dstStride, &c.init[0], c.initStride, list, &c.begin[0], &c.weights[0], c.rows, factor,
			int(c.op))
		return
	}
	sparseAVX2(&c.dst[0], c.dstStride, &c.init[0], c.initStride, list, &c.begin[0], &c.weights[0], c.rows, factor,
		int(c.op))
}

// list returns the address of the entries, nil if all lists are empty.
func (c *call) list() *uint64 { return (*uint64)(unsafe.SliceData(c.entries)) }

// first returns the address of the first number, nil for an empty slice.
func first(s []float32) *float32 {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// tileRows is the number of rows in a tile of score.
const tileRows = 8

// fuses reports whether score supports p and targets of this form.
func (p *Panels) fuses(t Targets) bool {
	return p.level == simd.AVX512 && p.Map.projects() && (t.Values == nil || t.Outputs == 1)
}

// score adds the features of c, whose rows are whole tiles, to sums without storing them; phi has
// room for a tile.
func (c *call) score(phi []float32, t total, targets Targets) {
	c.checkInputs()
	_ = phi[tileRows*Width-1]
	_ = t.sum[Width-1]
	_ = t.square[Width-1]
	_ = t.product[(targets.Outputs-1)*t.stride+Width-1]
	var y *float32
	var class *int32
	if targets.Values == nil {
		_ = targets.Class[c.rows-1]
		class = &targets.Class[0]
	} else {
		_ = targets.Values[c.rows-1]
		y = &targets.Values[0]
	}
	if c.begin != nil {
		sparseScoreAVX512(&phi[0], &t.sum[0], &t.square[0], &t.product[0], t.stride, y, 1, class,
			&c.init[0], c.initStride, c.list(), &c.begin[0], &c.weights[0], c.rows, int(c.op))
		return
	}
	scoreAVX512(&phi[0], &t.sum[0], &t.square[0], &t.product[0], t.stride, y, 1, class,
		&c.init[0], c.initStride, first(c.x), c.xStride, first(c.weights), len(c.weights)/Width, c.rows, int(c.op))
}

// addValues is addValuesPlain at any level; rows is positive.
func (t total) addValues(level simd.Level, phi []float32, rows int, y []float32, stride int) {
	_ = phi[rows*Width-1]
	_ = y[(rows-1)*stride]
	_ = t.product[Width-1]
	_, _ = t.sum[Width-1], t.square[Width-1]
	switch level {
	case simd.AVX512:
		valueSumsAVX512(&t.sum[0], &t.square[0], &t.product[0], &phi[0], rows, &y[0], stride)
	case simd.AVX2:
		valueSumsAVX2(&t.sum[0], &t.square[0], &t.product[0], &phi[0], rows, &y[0], stride)
	default:
		t.addValuesPlain(phi, rows, y, stride)
	}
}

// addProducts is addProductsPlain at any level; rows is positive.
func addProducts(level simd.Level, product []float64, phi []float32, rows int, y []float32, stride int) {
	_ = phi[rows*Width-1]
	_ = y[(rows-1)*stride]
	_ = product[Width-1]
	switch level {
	case simd.AVX512:
		productSumsAVX512(&product[0], &phi[0], rows, &y[0], stride)
	case simd.AVX2:
		productSumsAVX2(&product[0], &phi[0], rows, &y[0], stride)
	default:
		addProductsPlain(product, phi, rows, y, stride)
	}
}

// addClasses is addClassesPlain at any level. It needs at least one row, and classes in range.
func (t total) addClasses(level simd.Level, phi []float32, class []int32, classes int) {
	rows := len(class)
	_ = phi[rows*Width-1]
	_ = t.sum[Width-1]
	_ = t.square[Width-1]
	_ = t.product[(classes-1)*t.stride+Width-1]
	switch level {
	case simd.AVX512:
		classSumsAVX512(&t.sum[0], &t.square[0], &t.product[0], &phi[0], rows, &class[0], t.stride)
	case simd.AVX2:
		classSumsAVX2(&t.sum[0], &t.square[0], &t.product[0], &phi[0], rows, &class[0], t.stride)
	default:
		t.addClassesPlain(phi, class)
	}
}

// survey is surveyPlain at any level.
func survey(level simd.Level, x []float32) (largest float32, zeros int) {
	whole := len(x) &^ 15
	if level == simd.None || whole == 0 {
		return surveyPlain(x)
	}
	most, zeros := surveyAVX2(&x[0], whole)
	largest, more := surveyPlain(x[whole:])
	return math.Float32frombits(max(most, math.Float32bits(largest))), zeros + more
}

// markNonzero is markNonzeroPlain at any level.
func markNonzero(level simd.Level, words []uint64, x []float32) {
	whole := len(x) / 64
	if level == simd.None || whole == 0 {
		markNonzeroPlain(words, x)
		return
	}
	nonzeroBitsAVX2(&words[:whole][0], &x[0], whole)
	markNonzeroPlain(words[whole:], x[64*whole:])
}

// slopes is slopesPlain at any level; rows is positive.
func slopes(level simd.Level, dst []float32, dstStride int, slope []float32, rows int) {
	_, _ = dst[(rows-1)*dstStride+Width-1], slope[rows*Width-1]
	switch level {
	case simd.AVX512:
		slopesAVX512(&dst[0], dstStride, &slope[0], rows)
	case simd.AVX2:
		slopesAVX2(&dst[0], dstStride, &slope[0], rows)
	default:
		slopesPlain(dst, dstStride, slope, rows)
	}
}

// rampSlopes is rampSlopesPlain at any level; rows is positive.
func rampSlopes(level simd.Level, dst []float32, dstStride int, slope []float32, rows int) {
	_, _ = dst[(rows-1)*dstStride+Width-1], slope[rows*Width-1]
	switch level {
	case simd.AVX512:
		rampSlopesAVX512(&dst[0], dstStride, &slope[0], rows)
	case simd.AVX2:
		rampSlopesAVX2(&dst[0], dstStride, &slope[0], rows)
	default:
		rampSlopesPlain(dst, dstStride, slope, rows)
	}
}

// weigh is weighPlain at any level. It needs at least one row and one output.
func weigh(level simd.Level, slope, e, weights []float32, outputs int) {
	rows := len(e) / outputs
	_, _ = slope[rows*Width-1], weights[outputs*Width-1]
	switch level {
	case simd.AVX512:
		weighAVX512(&slope[0], &e[0], outputs, &weights[0], outputs, rows)
	case simd.AVX2:
		weighAVX2(&slope[0], &e[0], outputs, &weights[0], outputs, rows)
	default:
		weighPlain(slope, e, weights, outputs)
	}
}

// productsOfRow is productsOfRowPlain at any level. It needs at least one record; dst and factor
// must have room for all lanes.
func productsOfRow(level simd.Level, dst []float32, records []record, factor, row []float32) {
	if level == simd.None {
		productsOfRowPlain(dst, records, factor, row)
		return
	}
	productsRow(&dst[0], &records[0].column[0], len(records), &factor[0], &row[0])
}

// productsOfBlock sets phi [lane][chunkRows] to the products of rows. It also writes beyond the
// last row.
func productsOfBlock(level simd.Level, phi []float32, records []record, factor, columns []float32, rows int) {
	if level == simd.AVX512 {
		productsAVX512(&phi[0], &records[0].column[0], len(records), &factor[0], &columns[0], rows)
		return
	}
	productsAVX2(&phi[0], &records[0].column[0], len(records), &factor[0], &columns[0], rows)
}

// transpose is transposePlain at any level. It needs at least one row and one column.
func transpose(level simd.Level, dst []float32, dstStride int, src []float32, srcStride, rows, columns int) {
	if level == simd.None || rows < squareRows || columns < squareRows {
		transposePlain(dst, dstStride, src, srcStride, rows, columns)
		return
	}
	_, _ = dst[(columns-1)*dstStride+rows-1], src[(rows-1)*srcStride+columns-1]
	transposeAVX2(&dst[0], dstStride, &src[0], srcStride, rows, columns)
}

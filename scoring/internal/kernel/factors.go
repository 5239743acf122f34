package kernel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/eerf-stream/eerf/internal/simd"
)

// MaxFactors is the most factors of a product.
const MaxFactors = 3

// Factors is a product of Count factors, each of one coordinate of a row: of max(0, s·(x_j − t)), or of 1 where s·(x_j − t) ≥ 0 and
// 0 elsewhere if Box is set.
type Factors struct {
	Box        bool
	Count      uint8
	Coordinate [MaxFactors]uint16
	Sign       [MaxFactors]float32 // 1 or -1
	Threshold  [MaxFactors]float32
}

// form is what is multiplied.
type form uint32

// The forms, by the numbers that the assembly knows: from each, kinds of products count their factors.
const (
	hinges form = 0              // max(0, v)
	boxes  form = MaxFactors     // 1 where v ≥ 0, else 0
	edges  form = 2 * MaxFactors // of the first factor 1 where v > 0, else 0, of the others max(0, v)
)

// record is a packed product of v = (x_column XOR sign) − threshold. The assembly knows where its numbers are.
type record struct {
	column    [MaxFactors]uint32
	sign      [MaxFactors]uint32  // only the sign's bit, if it is negative
	threshold [MaxFactors]float32 // with the sign
	lane      uint32
	kind      uint32 // a form, and how many factors there are beyond one
	_         uint32
}

// PackFactors packs products over rows of dim numbers. Features are those of [Set.Featurize] and [Score]: a difference is rounded, and
// each product of factors, from left to right, of which only the last one is held within the finite numbers. It is 0 if it is not a
// number, as are factors.
func PackFactors(dim int, features []Factors) *Panels {
	return packProducts(dim, len(features), func(i int) (form, Factors) {
		if features[i].Box {
			return boxes, features[i]
		}
		return hinges, features[i]
	})
}

// PackSlopes packs the derivatives of hinges by their factors v_a = s_a·(x_ja − t_a): of each hinge one after another, 1 where v_a > 0
// and else 0, times the other factors. The derivative by t_a is −s_a times that. [Score] with the errors of a model as outputs then has
// the sums that a gradient is made of.
func PackSlopes(dim int, features []Factors) *Panels {
	var all []Factors
	for i, f := range features {
		if f.Box {
			panic(fmt.Sprintf("kernel: product %d has no slopes, it is a box", i))
		}
		for a := range f.Count {
			own := f
			for at := a; at > 0; at-- { // the others keep their order
				own.Coordinate[at], own.Sign[at], own.Threshold[at] = f.Coordinate[at-1], f.Sign[at-1], f.Threshold[at-1]
			}
			own.Coordinate[0], own.Sign[0], own.Threshold[0] = f.Coordinate[a], f.Sign[a], f.Threshold[a]
			all = append(all, own)
		}
	}
	return packProducts(dim, len(all), func(i int) (form, Factors) { return edges, all[i] })
}

// packProducts packs n products. In a panel, those of a kind follow each other.
func packProducts(dim, n int, of func(i int) (form, Factors)) *Panels {
	p := &Panels{Map: Product, Dim: dim, Len: n, level: simd.Best(), records: make([]record, n)}
	for i := range p.records {
		p.records[i] = pack(dim, i, of)
	}
	for panel := range slices.Chunk(p.records, Width) {
		slices.SortStableFunc(panel, func(a, b record) int { return cmp.Compare(a.kind, b.kind) })
	}
	return p
}

// pack packs product i.
func pack(dim, i int, of func(i int) (form, Factors)) record {
	kind, f := of(i)
	if f.Count < 1 || f.Count > MaxFactors {
		panic(fmt.Sprintf("kernel: product %d of %d factors", i, f.Count))
	}
	r := record{lane: uint32(i % Width), kind: uint32(kind) + uint32(f.Count) - 1}
	for a, j := range f.Coordinate[:f.Count] {
		if int(j) >= dim {
			panic(fmt.Sprintf("kernel: a factor on coordinate %d of rows of %d", j, dim))
		}
		r.column[a], r.threshold[a] = uint32(j), f.Threshold[a]
		if f.Sign[a] < 0 {
			r.sign[a], r.threshold[a] = 1<<31, -f.Threshold[a]
		}
	}
	return r
}

// of returns the product of a row.
func (r *record) of(row []float32) float32 {
	q := int(r.kind)%MaxFactors + 1
	kind, product := form(int(r.kind)+1-q), float32(1)
	for a := range q {
		v := math.Float32frombits(math.Float32bits(row[r.column[a]])^r.sign[a]) - r.threshold[a]
		switch {
		case kind == boxes && !(v >= 0), kind == edges && a == 0 && !(v > 0):
			return 0
		case kind == boxes, kind == edges && a == 0:
			continue
		case !(v > 0):
			v = 0
		}
		product = float32(product * v)
	}
	return positive(product)
}

// indicates reports whether the product is 0 or 1.
func (r *record) indicates() bool { return r.kind >= uint32(boxes) && r.kind <= uint32(edges) }

// products writes the products of one panel for the rows of b to dst, row by row stride apart: as many lanes as there are
// products. factor nil means 1. s may be nil if b has no columns.
func (p *Panels) products(dst []float32, stride, panel int, b block, factor []float32, s *scratch) {
	records := p.records[panel*Width : min((panel+1)*Width, p.Len)]
	if factor == nil {
		factor = ones[:]
	}
	_, _, _ = dst[(b.rows-1)*stride+len(records)-1], factor[len(records)-1], b.x[b.rows*p.Dim-1]
	if b.columns == nil || b.rows < squareRows {
		for r := range b.rows {
			productsOfRow(p.level, dst[r*stride:], records, factor, b.x[r*p.Dim:(r+1)*p.Dim])
		}
		return
	}
	_ = b.columns[(p.Dim-1)*chunkRows+b.rows-1]
	phi := aligned(unsafe.Slice(&s.z[0][0], 2*chunkRows*Width))[:chunkRows*Width]
	productsOfBlock(p.level, phi, records, factor, b.columns, b.rows)
	transpose(p.level, dst, stride, phi, chunkRows, len(records), b.rows)
}

// ones is a factor of 1 for each lane.
var ones = func() (f [Width]float32) {
	for i := range f {
		f[i] = 1
	}
	return f
}()

// productsOfRowPlain sets dst to the products of a row, each in its lane.
func productsOfRowPlain(dst []float32, records []record, factor, row []float32) {
	for i := range records {
		r := &records[i]
		v := r.of(row)
		if v != 0 || !r.indicates() { // what indicators leave out has no sign
			v = float32(v * factor[r.lane])
		}
		dst[r.lane] = v
	}
}

// squareRows is from how many rows on they are transposed.
const squareRows = 8

// columns returns whether rows are transposed for products.
func (p *Panels) columns(rows int) bool {
	return p.Map == Product && p.level != simd.None && rows >= squareRows
}

// transposePlain sets dst[c·dstStride + r] = src[r·srcStride + c].
func transposePlain(dst []float32, dstStride int, src []float32, srcStride, rows, columns int) {
	for r := range rows {
		for c, v := range src[r*srcStride:][:columns] {
			dst[c*dstStride+r] = v
		}
	}
}

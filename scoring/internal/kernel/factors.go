package kernel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/eerf-stream/eerf/internal/simd"
)

// MaxFactors is the greatest number of factors of a product.
const MaxFactors = 3

// Factors is a product of Count factors, each of one coordinate x_j of a row: max(0, s·(x_j − t)),
// or, if Box is set, 1 where s·(x_j − t) ≥ 0 and 0 elsewhere.
type Factors struct {
	Box        bool
	Count      uint8
	Coordinate [MaxFactors]uint16
	Sign       [MaxFactors]float32 // 1 or -1
	Threshold  [MaxFactors]float32
}

// form is the kind of the factors of a product.
type form uint32

// The forms, by the numbers that the assembly uses. A form plus the number of factors beyond one is
// the kind of a product.
const (
	hinges form = 0              // max(0, v)
	boxes  form = MaxFactors     // 1 where v ≥ 0, else 0
	edges  form = 2 * MaxFactors // first factor: 1 where v > 0, else 0; other factors: max(0, v)
)

// record is a packed product of factors v = (x_column XOR sign) − threshold. The assembly depends
// on its layout.
type record struct {
	column    [MaxFactors]uint32
	sign      [MaxFactors]uint32  // the sign bit if the sign is negative, else 0
	threshold [MaxFactors]float32 // multiplied by the sign
	lane      uint32
	kind      uint32 // a form plus the number of factors beyond one
	_         uint32
}

// PackFactors packs products over rows of dim numbers. [Set.Featurize] and [Score] round each
// difference and each product of factors, from left to right, and clamp the last product to finite
// numbers. Factors and products that are NaN become 0. Coordinates outside the row and wrong
// numbers of factors panic.
func PackFactors(dim int, features []Factors) *Panels {
	return packProducts(dim, len(features), func(i int) (form, Factors) {
		if features[i].Box {
			return boxes, features[i]
		}
		return hinges, features[i]
	})
}

// PackSlopes packs, hinge by hinge, the derivatives of hinges with respect to their factors v_a =
// s_a·(x_ja − t_a): 1 where v_a > 0, otherwise 0, times the other factors. The derivative with
// respect to t_a is −s_a times that. [Score] with the errors of a model as outputs then returns the
// sums in its gradient. It panics for boxes.
func PackSlopes(dim int, features []Factors) *Panels {
	var all []Factors
	for i, f := range features {
		if f.Box {
			panic(fmt.Sprintf("kernel: product %d has no slopes, it is a box", i))
		}
		for a := range f.Count {
			own := f
			for at := a; at > 0; at-- { // the other factors keep their order
				own.Coordinate[at] = f.Coordinate[at-1]
				own.Sign[at] = f.Sign[at-1]
				own.Threshold[at] = f.Threshold[at-1]
			}
			own.Coordinate[0] = f.Coordinate[a]
			own.Sign[0] = f.Sign[a]
			own.Threshold[0] = f.Threshold[a]
			all = append(all, own)
		}
	}
	return packProducts(dim, len(all), func(i int) (form, Factors) { return edges, all[i] })
}

// packProducts packs n products. Within a panel, they are sorted by kind.
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

// of returns the product for a row.
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

// indicates reports whether the product is always 0 or 1.
func (r *record) indicates() bool { return r.kind >= uint32(boxes) && r.kind <= uint32(edges) }

// products writes the products of one panel for the rows of b to dst, with rows stride numbers
// apart. It writes one lane per product. factor nil means 1. s may be nil if b has no columns.
func (p *Panels) products(dst []float32, stride, panel int, b block, factor []float32, s *scratch) {
	records := p.records[panel*Width : min((panel+1)*Width, p.Len)]
	if factor == nil {
		factor = ones[:]
	}
	_ = dst[(b.rows-1)*stride+len(records)-1]
	_ = factor[len(records)-1]
	_ = b.x[b.rows*p.Dim-1]
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

// productsOfRowPlain sets the lanes of dst to the products of a row.
func productsOfRowPlain(dst []float32, records []record, factor, row []float32) {
	for i := range records {
		r := &records[i]
		v := r.of(row)
		if v != 0 || !r.indicates() { // an indicator that is 0 stays +0
			v = float32(v * factor[r.lane])
		}
		dst[r.lane] = v
	}
}

// squareRows is the number of rows from which they are transposed.
const squareRows = 8

// columns reports whether rows are transposed for products.
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

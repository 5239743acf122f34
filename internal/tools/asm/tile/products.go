package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The layout of kernel.record, in bytes.
const (
	recordColumns    = 0
	recordSigns      = 12
	recordThresholds = 24
	recordLane       = 36
	recordKind       = 40
	recordBytes      = 48
)

// The forms. A record's kind is its form plus the number of factors beyond one.
const (
	hinges = 0 // Π max(0, v)
	boxes  = 3 // Π 1[v ≥ 0]
	edges  = 6 // 1[v > 0], times the hinges of the factors after the first

	mostFactors = 3
)

// Predicates of comparisons: ordered, quiet.
const (
	atLeast = 29
	greater = 30
)

// lane selects the variant of a kernel: rows of a block in the lanes of vectors, or a single row.
type lane struct {
	isa
	one bool
}

// oneRow is the variant for a single row.
var oneRow = lane{isa: isa{name: "Row", bytes: 4, regs: []reg.Register{
	reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10, reg.X11,
}}, one: true}

// products generates the kernel of hinges and boxes.
func products(l lane) {
	name := "products" + l.name
	if l.one {
		TEXT(name, noSplit, "func(dst *float32, records *uint32, count int, factor *float32, x *float32)")
	} else {
		TEXT(name, noSplit, "func(dst *float32, records *uint32, count int, factor *float32, columns *float32, rows int)")
	}
	Pragma("noescape")
	Doc(l.describe(name)...)
	align()
	p := productLoop{
		lane:   l,
		name:   name,
		dst:    load("dst"),
		record: load("records"),
		count:  load("count"),
		factor: load("factor"),
	}
	if l.one {
		p.x = load("x")
	} else {
		p.x, p.limit = load("columns"), load("rows")
		SHLQ(U8(2), p.limit)
	}
	p.zero = l.regs[0]
	zero := p.zero.(reg.VecPhysical).AsX()
	VXORPS(zero, zero, zero)
	p.loop()
}

// describe returns the loop of the kernel as Go code.
func (l lane) describe(name string) []string {
	doc := []string{
		name + " sets products for rows of a transposed block, in whole vectors. count and rows are positive.", "",
	}
	rows := "range rows"
	at := "64*p.lane+r"
	x := "columns[64*p.column[a]+r]"
	if l.one {
		doc[0] = name + " sets products for a row. count is positive."
		rows = "range 1"
		at = "p.lane"
		x = "x[p.column[a]]"
	}
	return append(doc,
		"	for _, p := range records[:count] {",
		"		for r := "+rows+" {",
		"			v := func(a int) float32 { return xor("+x+", p.sign[a]) - p.threshold[a] }",
		"			dst["+at+"] = factor[p.lane] * p.kind.of(v) // 0 where an indicator is",
		"		}",
		"	}",
	)
}

// productLoop is the registers of the kernel.
type productLoop struct {
	lane
	name                          string
	dst, record, factor, x, limit reg.GPVirtual
	count                         reg.GPVirtual
	zero                          reg.Register
}

// loop generates the loop over records. Records are sorted by kind, so it tries the kind of the
// previous one first.
func (p *productLoop) loop() {
	var kinds []int
	for _, form := range []int{hinges, boxes, edges} {
		for q := range mostFactors {
			kinds = append(kinds, form+q)
		}
	}
	label := func(kind int) string { return fmt.Sprintf("%sKind%d", p.name, kind) }
	Label(p.name + "Next")
	kind := GP32()
	MOVL(Mem{Base: p.record, Disp: recordKind}, kind)
	for _, k := range kinds[1:] {
		CMPL(kind, U8(k))
		JEQ(LabelRef(label(k)))
	}
	for _, k := range kinds {
		Label(label(k))
		p.product(k/mostFactors*mostFactors, k%mostFactors+1)
		ADDQ(U8(recordBytes), p.record)
		DECQ(p.count)
		JZ(LabelRef(p.name + "End"))
		CMPL(Mem{Base: p.record, Disp: recordKind}, U8(k))
		JEQ(LabelRef(label(k)))
		JMP(LabelRef(p.name + "Next"))
	}
	Label(p.name + "End")
	VZEROUPPER()
	RET()
}

// product generates the code for one record of q factors.
func (p *productLoop) product(form, q int) {
	lane := GP64()
	MOVL(Mem{Base: p.record, Disp: recordLane}, lane.As32())
	var at []Mem
	for a := range q {
		column := GP64()
		MOVL(Mem{Base: p.record, Disp: recordColumns + 4*a}, column.As32())
		if p.one {
			at = append(at, Mem{Base: p.x, Index: column, Scale: 4})
			continue
		}
		SHLQ(U8(8), column) // 4·blockRows
		ADDQ(p.x, column)
		at = append(at, Mem{Base: column})
	}
	if p.one {
		f := p.regs[1]
		VMOVSS(Mem{Base: p.factor, Index: lane, Scale: 4}, f)
		VMOVSS(p.value(form, at, nil, nil, f), Mem{Base: p.dst, Index: lane, Scale: 4})
		return
	}
	signs := p.regs[2 : 2+q]
	thresholds := p.regs[5 : 5+q]
	f := p.regs[1]
	VBROADCASTSS(Mem{Base: p.factor, Index: lane, Scale: 4}, f)
	for a := range q {
		VBROADCASTSS(Mem{Base: p.record, Disp: recordSigns + 4*a}, signs[a])
		VBROADCASTSS(Mem{Base: p.record, Disp: recordThresholds + 4*a}, thresholds[a])
	}
	SHLQ(U8(8), lane)
	ADDQ(p.dst, lane)
	row, rows := GP64(), fmt.Sprintf("%sRows%d", p.name, form+q-1)
	XORQ(row, row)
	for a := range at {
		at[a].Index, at[a].Scale = row, 1
	}
	Label(rows)
	VMOVUPS(p.value(form, at, signs, thresholds, f), Mem{Base: lane, Index: row, Scale: 1})
	ADDQ(U8(p.bytes), row)
	CMPQ(row, p.limit)
	JLT(LabelRef(rows))
}

// value returns the register of the product of factors of the numbers at.
func (p *productLoop) value(form int, at []Mem, signs, thresholds []reg.Register, factor reg.Register) reg.Register {
	first, next := p.regs[8], p.regs[9]
	switch form {
	case boxes:
		p.indicator(atLeast, 0, at[0], signs, thresholds, first, false)
		for a := range at[1:] {
			p.indicator(atLeast, a+1, at[a+1], signs, thresholds, next, true)
			if !p.wide() {
				VANDPS(next, first, first)
			}
		}
		p.only(factor, first)
		return first
	case hinges:
		p.hinge(0, at[0], signs, thresholds, first)
		for a := range at[1:] {
			p.hinge(a+1, at[a+1], signs, thresholds, next)
			p.multiply(next, first)
		}
		p.end(len(at) > 1, first)
		p.multiply(factor, first)
		return first
	}
	if p.indicator(greater, 0, at[0], signs, thresholds, first, false); len(at) == 1 {
		p.only(factor, first)
		return first
	}
	product := p.regs[10]
	p.hinge(1, at[1], signs, thresholds, product)
	if len(at) > 2 {
		p.hinge(2, at[2], signs, thresholds, next)
		p.multiply(next, product)
	}
	p.end(len(at) > 2, product)
	p.only(product, first)
	p.multiply(factor, first)
	return first
}

// difference sets v to factor a before its maximum.
func (p *productLoop) difference(a int, at Mem, signs, thresholds []reg.Register, v reg.Register) {
	if p.one {
		VMOVSS(at, v)
		VXORPS(Mem{Base: p.record, Disp: recordSigns + 4*a}, v, v) // the other three lanes are ignored
		VSUBSS(Mem{Base: p.record, Disp: recordThresholds + 4*a}, v, v)
		return
	}
	VXORPS(at, signs[a], v)
	VSUBPS(thresholds[a], v, v)
}

// hinge sets v to max(0, factor a), 0 for NaN.
func (p *productLoop) hinge(a int, at Mem, signs, thresholds []reg.Register, v reg.Register) {
	p.difference(a, at, signs, thresholds, v)
	if p.one {
		VMAXSS(p.zero, v, v)
		return
	}
	p.above(p.zero, v)
}

// multiply sets v to v·by.
func (p *productLoop) multiply(by, v reg.Register) {
	if p.one {
		VMULSS(by, v, v)
		return
	}
	VMULPS(by, v, v)
}

// end clamps v, which is at least 0, to finite numbers; it sets products that are NaN to 0.
func (p *productLoop) end(product bool, v reg.Register) {
	if p.one {
		if product {
			VMAXSS(p.zero, v, v)
		}
		VMINSS(largest, v, v)
		return
	}
	if product {
		p.above(p.zero, v)
	}
	p.atMost(largest, v)
}

// indicator marks where factor a satisfies the predicate with 0: in v, or in K1 at 512 bits. If
// both is set, it clears other bits of K1 only.
func (p *productLoop) indicator(
	predicate uint8,
	a int,
	at Mem,
	signs, thresholds []reg.Register,
	v reg.Register,
	both bool,
) {
	p.difference(a, at, signs, thresholds, v)
	switch {
	case p.one:
		VCMPSS(U8(predicate), p.zero, v, v)
	case p.wide() && both:
		VCMPPS(U8(predicate), p.zero, v, reg.K1, reg.K1)
	case p.wide():
		VCMPPS(U8(predicate), p.zero, v, reg.K1)
	default:
		VCMPPS(U8(predicate), p.zero, v, v)
	}
}

// only sets v to from where it is marked, otherwise to 0.
func (p *productLoop) only(from, v reg.Register) {
	if p.wide() {
		VMOVAPS_Z(from, reg.K1, v)
		return
	}
	VANDPS(from, v, v)
}

// transpose generates the kernel that transposes rows, 8 by 8 numbers at a time. It uses 256 bits
// at every level, because it takes little time.
func transpose() {
	const name = "transposeAVX2"
	TEXT(name, noSplit, "func(dst *float32, dstStride int, src *float32, srcStride int, rows int, columns int)")
	Pragma("noescape")
	Doc(
		name+" transposes rows. rows and columns are at least 8; the last block overlaps the previous one to be whole.",
		"",
		"	for r := range rows {",
		"		for c := range columns {",
		"			dst[c*dstStride+r] = src[r*srcStride+c]",
		"		}",
		"	}",
	)
	align()
	dst := load("dst")
	to := loadBytes("dstStride")
	src := load("src")
	from := loadBytes("srcStride")
	rows := load("rows")
	Label(name + "Rows")
	p := newRowPointers(src, from, 8)
	d := newRowPointers(dst, to, 8)
	columns := load("columns")
	Label(name + "Columns")
	for half := range 2 {
		square(p, d, half)
	}
	moved := stepBack(columns, name+"Next")
	for i := range p.base {
		LEAQ(Mem{Base: p.base[i], Index: moved, Scale: 4}, p.base[i])
	}
	IMULQ(to, moved)
	for i := range d.base {
		ADDQ(moved, d.base[i])
	}
	JMP(LabelRef(name + "Columns"))
	Label(name + "Next")
	moved = stepBack(rows, name+"End")
	LEAQ(Mem{Base: dst, Index: moved, Scale: 4}, dst)
	IMULQ(from, moved)
	ADDQ(moved, src)
	JMP(LabelRef(name + "Rows"))
	Label(name + "End")
	VZEROUPPER()
	RET()
}

// stepBack subtracts 8 from left, jumps to end if nothing is left, and returns the distance to the
// next block, which is shorter for the last one.
func stepBack(left reg.GPVirtual, end string) reg.GPVirtual {
	const block = 8
	SUBQ(U8(block), left)
	JZ(LabelRef(end))
	by, most := GP64(), GP64()
	MOVQ(U32(block), most)
	MOVQ(left, by)
	CMPQ(left, most)
	CMOVQGT(most, by)
	CMOVQLT(most, left)
	return by
}

// square transposes columns 4·half..4·half+3 of 8 rows.
func square(p, d rowPointers, half int) {
	y := avx2.regs[8*half:]
	for r := range 4 {
		VMOVUPS(p.row(r, 16*half), y[r].(reg.VecPhysical).AsX())
		VINSERTF128(U8(1), p.row(r+4, 16*half), y[r], y[r])
	}
	for i := range 2 {
		VUNPCKLPS(y[2*i+1], y[2*i], y[4+2*i])
		VUNPCKHPS(y[2*i+1], y[2*i], y[5+2*i])
	}
	for i := range 2 {
		VUNPCKLPD(y[6+i], y[4+i], y[0])
		VUNPCKHPD(y[6+i], y[4+i], y[1])
		VMOVUPS(y[0], d.row(4*half+2*i, 0))
		VMOVUPS(y[1], d.row(4*half+2*i+1, 0))
	}
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// noSplit is the assembler's NOSPLIT.
const noSplit = 4

// tile is rows × vectors of accumulators, beginning at byte offset of a panel's row.
type tile struct {
	isa
	rows, vectors int
	offset        int
	// prefix separates the labels of a tile from the labels of other tiles in the function.
	prefix string
}

// acc is the accumulator of a row and a vector.
func (t tile) acc(row, vector int) reg.Register { return t.regs[row*t.vectors+vector] }

// scratch returns the registers without accumulators.
func (t tile) scratch() []reg.Register { return t.regs[t.rows*t.vectors:] }

// label returns a label in the code of the tile.
func (t tile) label(name string) string { return t.prefix + name }

func featuresAVX512() {
	beginFeatures("featuresAVX512")
	rows := load("rows")
	CMPQ(rows, U8(8))
	JGE(LabelRef("eight"))
	CMPQ(rows, U8(4))
	JGE(LabelRef("four"))
	featuresOf(tile{isa: avx512, rows: 1, vectors: 3, prefix: "one"})
	featuresOf(tile{isa: avx512, rows: 4, vectors: 3, prefix: "four"})
	featuresOf(tile{isa: avx512, rows: 8, vectors: 3, prefix: "eight"})
}

func featuresAVX2() {
	beginFeatures("featuresAVX2")
	rows := load("rows")
	CMPQ(rows, U8(4))
	JGE(LabelRef("four"))
	featuresOf(tile{isa: avx2, rows: 1, vectors: 6, prefix: "one"})
	featuresOf(
		tile{isa: avx2, rows: 4, vectors: 3, prefix: "four"},
		tile{isa: avx2, rows: 4, vectors: 3, offset: 96, prefix: "fourRight"},
	)
}

func beginFeatures(name string) {
	TEXT(name, noSplit, featuresSignature)
	Pragma("noescape")
	Doc(featuresDoc(name)...)
	align()
}

// featuresOf generates the loop over rows with tiles that together cover a panel. The last tile of
// rows overlaps the previous one to be whole, so some rows are computed twice.
func featuresOf(tiles ...tile) {
	t := tiles[0]
	Label(t.prefix)
	dst := load("dst")
	from := load("init")
	x := load("x")
	rows := load("rows")
	Label(t.label("Rows"))
	for _, part := range tiles {
		part.start(from)
		part.fetch(dst)
		part.products(x)
		part.apply()
		part.store(dst)
	}
	if t.rows == 1 {
		next(dst, from, x, nil)
		DECQ(rows)
		JNZ(LabelRef(t.label("Rows")))
	} else {
		SUBQ(U8(t.rows), rows)
		JZ(LabelRef(t.label("End")))
		count, most := GP64(), GP64()
		MOVQ(U32(t.rows), most)
		MOVQ(rows, count)
		CMPQ(rows, most)
		CMOVQGT(most, count) // rows to advance
		CMOVQLT(most, rows)  // remaining rows
		next(dst, from, x, count)
		JMP(LabelRef(t.label("Rows")))
	}
	Label(t.label("End"))
	VZEROUPPER()
	RET()
}

// next advances the pointers by count rows; nil means one.
func next(dst, from, x, count reg.Register) {
	for _, p := range []struct {
		pointer reg.Register
		stride  string
	}{{dst, "dstStride"}, {from, "initStride"}, {x, "xStride"}} {
		bytes := loadBytes(p.stride)
		if count != nil {
			IMULQ(count, bytes)
		}
		ADDQ(bytes, p.pointer)
	}
}

// start fills the accumulators from init.
func (t tile) start(from reg.GPVirtual) {
	p := newRowPointers(from, loadBytes("initStride"), t.rows)
	for r := range t.rows {
		for v := range t.vectors {
			VMOVUPS(p.row(r, t.offset+v*t.bytes), t.acc(r, v))
		}
	}
}

// fetch prefetches the lines that the tile will write, if a factor is given and the destination is
// therefore in memory: they arrive while the products are computed.
func (t tile) fetch(dst reg.GPVirtual) {
	if t.rows == 1 {
		return
	}
	factor := load("factor")
	TESTQ(factor, factor)
	JZ(LabelRef(t.label("Products")))
	p := newRowPointers(dst, loadBytes("dstStride"), t.rows)
	for r := range t.rows {
		for line := 0; line < t.vectors*t.bytes; line += 64 {
			PREFETCHT0(p.row(r, t.offset+line))
		}
		PREFETCHT0(p.row(r, t.offset+t.vectors*t.bytes-1))
	}
	Label(t.label("Products"))
}

// unroll is the number of columns per turn of the main loop. Advancing pointers competes with the
// arithmetic for ports.
const unroll = 2

// products adds x·w for every number of the rows.
func (t tile) products(x reg.GPVirtual) {
	p := newRowPointers(x, loadBytes("xStride"), t.rows)
	w, left := load("w"), load("dim")
	SUBQ(U8(unroll), left)
	JL(LabelRef(t.label("Tail")))
	Label(t.label("Loop"))
	t.outerRun(p, w, unroll)
	SUBQ(U8(unroll), left)
	JGE(LabelRef(t.label("Loop")))
	Label(t.label("Tail")) // left is now −unroll..−1; its low bits are the number of remaining columns
	for n := unroll / 2; n > 0; n /= 2 {
		after := t.label("Without" + string(rune('0'+n)))
		TESTQ(U32(n), left)
		JZ(LabelRef(after))
		t.outerRun(p, w, n)
		Label(after)
	}
}

// outerRun adds the outer products of n columns and advances.
func (t tile) outerRun(p rowPointers, w reg.GPVirtual, n int) {
	for k := range n {
		t.outer(p, w, k)
	}
	p.advance(4 * n)
	ADDQ(U32(4*panel*n), w)
}

// outer adds the outer product of column k of the rows and of the panel.
func (t tile) outer(p rowPointers, w reg.GPVirtual, k int) {
	scratch := t.scratch()
	if t.rows == 1 {
		x := scratch[k%2]
		VBROADCASTSS(p.row(0, 4*k), x)
		for v := range t.vectors {
			VFMADD231PS(Mem{Base: w, Disp: 4*panel*k + t.offset + v*t.bytes}, x, t.acc(0, v))
		}
		return
	}
	for v := range t.vectors {
		VMOVUPS(Mem{Base: w, Disp: 4*panel*k + t.offset + v*t.bytes}, scratch[v])
	}
	x := scratch[t.vectors]
	for r := range t.rows {
		VBROADCASTSS(p.row(r, 4*k), x)
		for v := range t.vectors {
			VFMADD231PS(scratch[v], x, t.acc(r, v))
		}
	}
}

// The values of op, kernel's operations.
const (
	opRaw = iota
	opCosine
	opCosineFar
	opStep
	opRamp
	opSquaredRamp
)

// apply applies the feature map to the accumulators.
func (t tile) apply() {
	Label(t.label("Apply"))
	op := load("op")
	kinds := []struct {
		op   int
		name string
		emit func([]reg.Register)
	}{
		{opCosine, "Cosine", t.cosine},
		{opCosineFar, "CosineFar", t.cosineFar},
		{opStep, "Step", t.step},
		{opRamp, "Ramp", t.ramp},
		{opSquaredRamp, "SquaredRamp", t.squaredRamp},
	}
	for _, k := range kinds {
		CMPQ(op, U8(k.op))
		JEQ(LabelRef(t.label(k.name)))
	}
	JMP(LabelRef(t.label("Store")))
	for _, k := range kinds {
		Label(t.label(k.name))
		t.inGroups(k.emit)
		JMP(LabelRef(t.label("Store")))
	}
}

// inGroups calls emit for groups of accumulators, no larger than the number of scratch registers.
func (t tile) inGroups(emit func([]reg.Register)) {
	all, size := t.regs[:t.rows*t.vectors], min(len(t.scratch()), 8)
	for first := 0; first < len(all); first += size {
		emit(all[first:min(first+size, len(all))])
	}
}

// cosine is kernel.Cos without its limit: the polynomial of r² − ⅛, r the distance in turns to the
// next whole number.
func (t tile) cosine(group []reg.Register) {
	p := t.scratch()
	for i, z := range group {
		t.fraction(z, p[i])
	}
	for _, z := range group {
		t.multiplyAdd(eighth, z, z)
	}
	for i := range group {
		t.fill(polynomial[0], p[i])
	}
	last := len(polynomial) - 1
	for _, c := range polynomial[1:last] {
		for i, u := range group {
			t.multiplyAdd(c, u, p[i])
		}
	}
	for i, u := range group {
		t.multiplyAdd(polynomial[last], p[i], u)
	}
}

// cosineFar is kernel.Cos, with 0 for unknown phases.
func (t tile) cosineFar(group []reg.Register) {
	masks := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}
	scratch := t.scratch()
	size := min(len(scratch)/2, len(masks))
	for first := 0; first < len(group); first += size {
		part := group[first:min(first+size, len(group))]
		near := scratch[len(scratch)-size:]
		for i, z := range part {
			t.markNear(z, near[i], masks[i])
		}
		t.cosine(part)
		for i, z := range part {
			t.keepNear(z, near[i], masks[i])
		}
	}
}

func (t tile) step(group []reg.Register) {
	zero := t.zeros()
	for _, z := range group {
		t.isa.step(zero, t.scratch()[1], z)
	}
}

func (t tile) ramp(group []reg.Register) {
	zero := t.zeros()
	for _, z := range group {
		t.above(zero, z)
		t.atMost(largest, z)
	}
}

func (t tile) squaredRamp(group []reg.Register) {
	zero := t.zeros()
	for _, z := range group {
		t.above(zero, z)
		t.atMost(largest, z)
		VMULPS(z, z, z)
		t.atMost(largest, z)
	}
}

// zeros clears and returns a scratch register.
func (t tile) zeros() reg.Register {
	zero := t.scratch()[0]
	VXORPS(zero, zero, zero)
	return zero
}

// store multiplies the accumulators by factor, unless that is nil, and writes them.
func (t tile) store(dst reg.GPVirtual) {
	Label(t.label("Store"))
	factor := load("factor")
	TESTQ(factor, factor)
	JZ(LabelRef(t.label("Write")))
	for v := range t.vectors {
		f := t.scratch()[0]
		VMOVUPS(Mem{Base: factor, Disp: t.offset + v*t.bytes}, f)
		for r := range t.rows {
			VMULPS(f, t.acc(r, v), t.acc(r, v))
		}
	}
	Label(t.label("Write"))
	p := newRowPointers(dst, loadBytes("dstStride"), t.rows)
	for r := range t.rows {
		for v := range t.vectors {
			VMOVUPS(t.acc(r, v), p.row(r, t.offset+v*t.bytes))
		}
	}
}

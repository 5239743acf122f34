package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sparse generates the kernel for rows whose nonzero numbers are listed. Every row has its own
// list, because columns with a number in any of eight rows are much more frequent than numbers of
// one row. Two rows are multiplied at a time, so that their additions overlap. Loading ω, which
// rows do not share, bounds the speed.
func sparse(s isa) {
	name := "sparse" + s.name
	TEXT(name, noSplit, "func(dst *float32, dstStride int, init *float32, initStride int, list *uint64, begin *uint32, "+
		"w *float32, rows int, factor *float32, op int)")
	Pragma("noescape")
	Doc(sparseDoc(name)...)
	align()
	vectors := 4 * panel / s.bytes
	two := tile{isa: s, rows: 2, vectors: vectors, prefix: "two"}
	one := tile{isa: s, rows: 1, vectors: vectors, prefix: "one"}
	dst := load("dst")
	from := load("init")
	begin := load("begin")
	rows := load("rows")
	CMPQ(rows, U8(2))
	JL(LabelRef("one"))
	for _, t := range []tile{two, one} {
		Label(t.prefix)
		t.start(from)
		t.fetch(dst)
		t.listedProducts(begin)
		t.apply()
		t.store(dst)
		if t.rows == 1 {
			break
		}
		nextTwo(dst, "dstStride")
		nextTwo(from, "initStride")
		ADDQ(U8(8), begin)
		SUBQ(U8(2), rows)
		JZ(LabelRef("End"))
		CMPQ(rows, U8(2))
		JGE(LabelRef("two"))
	}
	Label("End")
	VZEROUPPER()
	RET()
}

// sparseDoc describes the loop of sparse, in which a product and its addition are rounded once.
func sparseDoc(name string) []string {
	return []string{
		name + " is features for listed rows. An entry is a number (high half) and 192 times its column (low half).",
		"Rows 0 and 1, 2 and 3 and so on have lists of the same length. rows is positive.",
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			z := init[r*initStride+f]",
		"			for _, e := range list[begin[r]:begin[r+1]] {",
		"				z = fma(math.Float32frombits(uint32(e>>32)), w[uint32(e)/4+f], z)",
		"			}",
		"			dst[r*dstStride+f] = factor[f] * apply(op, z) // no multiplication where factor is nil",
		"		}",
		"	}",
	}
}

// sparseScore generates scoreAVX512 for listed rows.
func sparseScore() {
	const name = "sparseScoreAVX512"
	TEXT(name, noSplit, "func(phi *float32, sum, square, product *float64, stride int, "+
		"y *float32, yStride int, class *int32, "+
		"init *float32, initStride int, list *uint64, begin *uint32, w *float32, rows int, op int)")
	Pragma("noescape")
	Doc(
		name+" adds the 48 features of a panel for listed rows, a positive multiple of 8, to their sums, in row order.",
		"phi is temporary memory for the features of 8 rows.",
		"",
		"	sparse(phi, 48, init, initStride, list, begin, w, rows, nil, op)",
		"	if class == nil {",
		"		valueSums(sum, square, product, phi, rows, y, yStride)",
		"	} else {",
		"		classSums(sum, square, product, phi, rows, class, stride)",
		"	}",
	)
	align()
	t := tile{isa: avx512, rows: 2, vectors: 3, prefix: "score"}
	from := load("init")
	begin := load("begin")
	rows := load("rows")
	y, class := load("y"), load("class")
	Label("scoreRows")
	phi := load("phi")
	Label("scoreTwo")
	t.start(from)
	t.listedProducts(begin)
	t.apply()
	Label(t.label("Store"))
	for r := range t.rows {
		for v := range t.vectors {
			VMOVUPS(t.acc(r, v), Mem{Base: phi, Disp: 4*panel*r + v*t.bytes})
		}
	}
	ADDQ(U32(4*panel*t.rows), phi)
	nextTwo(from, "initStride")
	ADDQ(U8(8), begin)
	SUBQ(U8(2), rows)
	TESTQ(U32(6), rows)
	JNZ(LabelRef("scoreTwo"))
	whole := tile{isa: avx512, rows: 8, vectors: 3}
	phi = load("phi")
	TESTQ(class, class)
	JNZ(LabelRef("scoreClasses"))
	whole.tileValues(phi, y)
	JMP(LabelRef("scoreNext"))
	Label("scoreClasses")
	whole.tileClasses(phi, class)
	Label("scoreNext")
	TESTQ(rows, rows)
	JNZ(LabelRef("scoreRows"))
	VZEROUPPER()
	RET()
}

// nextTwo moves a pointer by two rows.
func nextTwo(pointer reg.Register, stride string) {
	bytes := load(stride)
	LEAQ(Mem{Base: pointer, Index: bytes, Scale: 8}, pointer)
}

// listedProducts adds the products of the listed numbers of the rows of the tile.
func (t tile) listedProducts(begin reg.GPVirtual) {
	list, w := load("list"), load("w")
	ends := make([]reg.GPVirtual, t.rows) // end of the list of each row
	step := GP64()                        // from minus the length of the lists up to zero
	MOVL(Mem{Base: begin}, step.As32())
	for r := range t.rows {
		ends[r] = GP64()
		MOVL(Mem{Base: begin, Disp: 4 * (r + 1)}, ends[r].As32())
		if r == 0 {
			SUBQ(ends[0], step)
		}
		LEAQ(Mem{Base: list, Index: ends[r], Scale: 8}, ends[r])
	}
	TESTQ(step, step)
	JZ(LabelRef(t.label("Apply")))
	Label(t.label("Loop"))
	for r := range t.rows {
		place, x := GP64(), t.scratch()[r]
		MOVL(Mem{Base: ends[r], Index: step, Scale: 8}, place.As32())
		ADDQ(w, place)
		VBROADCASTSS(Mem{Base: ends[r], Index: step, Scale: 8, Disp: 4}, x)
		for v := range t.vectors {
			VFMADD231PS(Mem{Base: place, Disp: v * t.bytes}, x, t.acc(r, v))
		}
	}
	INCQ(step)
	JNZ(LabelRef(t.label("Loop")))
}

// nonzeroBits generates the kernel that finds the numbers to list. It uses 256 bits at every level.
func nonzeroBits() {
	const name = "nonzeroBitsAVX2"
	TEXT(name, noSplit, "func(bits *uint64, x *float32, words int)")
	Pragma("noescape")
	Doc(
		name+" sets the bits of the numbers that are not zero, 64 numbers a word; words is positive.",
		"",
		"	for i := range 64 * words {",
		"		bits[i/64] |= x[i] != 0 ? 1<<(i%64) : 0 // after bits[i/64] = 0",
		"	}",
	)
	align()
	const notEqual = 4 // unordered, quiet: true for NaN
	bits := load("bits")
	x := load("x")
	words := load("words")
	VPXOR(reg.Y0, reg.Y0, reg.Y0)
	Label(name + "Loop")
	word := GP64()
	for part := 7; part >= 0; part-- {
		eight := GP64()
		VCMPPS(U8(notEqual), Mem{Base: x, Disp: 32 * part}, reg.Y0, reg.Y1)
		VMOVMSKPS(reg.Y1, eight.As32())
		if part == 7 {
			MOVQ(eight, word)
			continue
		}
		SHLQ(U8(8), word)
		ORQ(eight, word)
	}
	MOVQ(word, Mem{Base: bits})
	ADDQ(U8(8), bits)
	ADDQ(U32(256), x)
	DECQ(words)
	JNZ(LabelRef(name + "Loop"))
	VZEROUPPER()
	RET()
}

package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// radix is how many vectors a pass holds in registers: three levels of butterflies between them for one load and one
// store of each.
const radix = 8

// first is the pass from src to dst: one, two or three levels, as many as leave a number to the passes of three levels
// that three divides. It returns the length in bytes of the stretches that are left to transform.
func (v isa) first(r row) (stretch reg.GPVirtual) {
	Comment("stretch is the greatest 8**i times the stretch of the last pass that is less than the row")
	stretch, most := GP64(), GP64()
	MOVQ(U32(radix*v.bytes()), stretch)
	Label("grow")
	MOVQ(stretch, most)
	SHLQ(U8(3), most)
	CMPQ(most, r.size)
	JGE(LabelRef("grown"))
	MOVQ(most, stretch)
	JMP(LabelRef("grow"))
	Label("grown")
	JEQ(LabelRef(firstPass(8)))
	SHRQ(U8(1), most)
	CMPQ(most, r.size)
	JEQ(LabelRef(firstPass(4)))
	for vectors := 2; vectors <= radix; vectors *= 2 {
		Label(firstPass(vectors))
		v.firstOf(vectors, r, stretch)
		if vectors < radix {
			JMP(LabelRef("middle"))
		}
	}
	return stretch
}

// firstPass is the label of the first pass that holds so many vectors.
func firstPass(vectors int) string { return "first" + strconv.Itoa(vectors) }

func (v isa) firstOf(vectors int, r row, stride reg.GPVirtual) {
	dst, src, diag, end := GP64(), GP64(), GP64(), GP64()
	MOVQ(r.dst, dst)
	MOVQ(r.src, src)
	MOVQ(r.diag, diag)
	LEAQ(Mem{Base: src, Index: stride, Scale: 1}, end)
	label := firstPass(vectors) + "loop"
	Label(label)
	h := v.load(strided(src, stride), strided(diag, stride), vectors)
	h.acrossVectors()
	h.store(strided(dst, stride))
	for _, pointer := range []reg.GPVirtual{dst, src, diag} {
		ADDQ(U32(v.bytes()), pointer)
	}
	CMPQ(src, end)
	JNE(LabelRef(label))
}

// middle are the passes of three levels over dst, until the stretches are those of the last pass.
func (v isa) middle(r row, stretch reg.GPVirtual) {
	Label("middle")
	p, end, rowEnd := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: r.dst, Index: r.size, Scale: 1}, rowEnd)
	CMPQ(stretch, U32(radix*v.bytes()))
	JEQ(LabelRef("last"))
	SHRQ(U8(3), stretch) // now the distance of the vectors of a butterfly
	MOVQ(r.dst, p)
	Label("middleStretch")
	LEAQ(Mem{Base: p, Index: stretch, Scale: 1}, end)
	Label("middleLoop")
	h := v.load(strided(p, stretch), nil, radix)
	h.acrossVectors()
	h.store(strided(p, stretch))
	ADDQ(U32(v.bytes()), p)
	CMPQ(p, end)
	JNE(LabelRef("middleLoop"))
	LEAQ(Mem{Base: p, Index: stretch, Scale: 8}, p)
	SUBQ(stretch, p)
	CMPQ(p, rowEnd)
	JNE(LabelRef("middleStretch"))
	JMP(LabelRef("middle"))
}

// last is the pass over dst that does the levels between neighbouring vectors and those within a vector.
func (v isa) last(r row) {
	Label("last")
	p, rowEnd := GP64(), GP64()
	MOVQ(r.dst, p)
	LEAQ(Mem{Base: r.dst, Index: r.size, Scale: 1}, rowEnd)
	Label("lastLoop")
	h := v.load(contiguous(p, v), nil, radix)
	h.acrossVectors()
	h.acrossLanes()
	h.store(contiguous(p, v))
	ADDQ(U32(radix*v.bytes()), p)
	CMPQ(p, rowEnd)
	JNE(LabelRef("lastLoop"))
}

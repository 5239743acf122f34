package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// survey generates the kernel that bounds the numbers of rows and counts the zeros. It uses 256
// bits at every level, because it is bound by memory.
func survey() {
	const name = "surveyAVX2"
	TEXT(name, noSplit, "func(x *float32, n int) (most uint32, zeros int)")
	Pragma("noescape")
	Doc(
		name+" returns the bits of the greatest |x|, which are those of an infinity or NaN if x has one, and the number of",
		"zeros; n is a positive multiple of 16, below 2³³.",
		"",
		"	for i := range n {",
		"		size := math.Float32bits(x[i])&^(1<<31)",
		"		most = max(most, size)",
		"		if size == 0 {",
		"			zeros++",
		"		}",
		"	}",
	)
	x, left := load("x"), load("n")
	VMOVUPS(absolute, reg.Y2)
	for _, y := range []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y4, reg.Y5, reg.Y6} {
		VPXOR(y, y, y)
	}
	Label(name + "Loop")
	for i, y := range [][2]reg.VecPhysical{{reg.Y0, reg.Y4}, {reg.Y1, reg.Y5}} {
		VPAND(Mem{Base: x, Disp: 32 * i}, reg.Y2, reg.Y3)
		VPMAXUD(reg.Y3, y[0], y[0])
		VPCMPEQD(reg.Y3, reg.Y6, reg.Y3)
		VPSUBD(reg.Y3, y[1], y[1]) // equal lanes are −1
	}
	ADDQ(U8(64), x)
	SUBQ(U8(16), left)
	JNZ(LabelRef(name + "Loop"))
	VPMAXUD(reg.Y1, reg.Y0, reg.Y0)
	VPADDD(reg.Y5, reg.Y4, reg.Y4)
	most, zeros := GP32(), GP32()
	reduce(reg.Y0, reg.X0, reg.X1, VPMAXUD)
	VMOVD(reg.X0, most)
	reduce(reg.Y4, reg.X4, reg.X1, VPADDD)
	VMOVD(reg.X4, zeros)
	VZEROUPPER()
	Store(most, ReturnIndex(0))
	Store(zeros.As64(), ReturnIndex(1))
	RET()
}

// reduce combines the eight lanes of y in its first lane; x is the lower half of y.
func reduce(y, x, scratch reg.VecPhysical, join func(ops ...Op)) {
	VEXTRACTI128(U8(1), y, scratch)
	join(scratch, x, x)
	for _, order := range []uint8{0b01_00_11_10, 0b10_11_00_01} { // swap halves, then neighbours
		VPSHUFD(U8(order), x, scratch)
		join(scratch, x, x)
	}
}

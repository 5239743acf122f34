package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// largestBits writes the kernel that bounds the numbers of rows. It works with 256 bits at every level: memory is what
// it waits for.
func largestBits() {
	const name = "largestAVX2"
	TEXT(name, noSplit, "func(x *float32, n int) uint32")
	Pragma("noescape")
	Doc(
		name+" returns the bits of the greatest |x|, those of an infinity or of a NaN if there is one; n is at least 16.",
		"",
		"	for i := range n {",
		"		most = max(most, math.Float32bits(x[i])&^(1<<31))",
		"	}",
	)
	x, left, end := load("x"), load("n"), GP64()
	LEAQ(Mem{Base: x, Index: left, Scale: 4, Disp: -64}, end)
	VMOVUPS(absolute, reg.Y2)
	VPXOR(reg.Y0, reg.Y0, reg.Y0)
	VPXOR(reg.Y1, reg.Y1, reg.Y1)
	Label(name + "Loop")
	CMPQ(x, end)
	JGE(LabelRef(name + "Last"))
	takeLargest(x)
	ADDQ(U8(64), x)
	JMP(LabelRef(name + "Loop"))
	Label(name + "Last") // the last 16 numbers, some of them for the second time
	takeLargest(end)
	VPMAXUD(reg.Y1, reg.Y0, reg.Y0)
	VEXTRACTI128(U8(1), reg.Y0, reg.X1)
	VPMAXUD(reg.X1, reg.X0, reg.X0)
	for _, order := range []uint8{0b01_00_11_10, 0b10_11_00_01} { // halves, then neighbours, change places
		VPSHUFD(U8(order), reg.X0, reg.X1)
		VPMAXUD(reg.X1, reg.X0, reg.X0)
	}
	result := GP32()
	VMOVD(reg.X0, result)
	VZEROUPPER()
	Store(result, ReturnIndex(0))
	RET()
}

// takeLargest takes the 16 numbers at x into Y0 and Y1; Y2 has every bit but the sign.
func takeLargest(x reg.Register) {
	for i, most := range []reg.VecPhysical{reg.Y0, reg.Y1} {
		VPAND(Mem{Base: x, Disp: 32 * i}, reg.Y2, reg.Y3)
		VPMAXUD(reg.Y3, most, most)
	}
}

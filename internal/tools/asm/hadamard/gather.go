package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gather writes the selection of numbers by index.
func (v isa) gather() {
	TEXT("gather"+v.name, noSplit, "func(dst *float32, z *float32, index *int32, shift *float32, n int, scale float32)")
	Pragma("noescape")
	Doc(
		"gather"+v.name+" selects n numbers of z, n a multiple of the vector and not 0.",
		"",
		"	for j := range n {",
		"		dst[j] = z[index[j]]*scale + shift[j] // rounded twice",
		"	}",
	)
	dst, z, index, shift, left := load("dst"), load("z"), load("index"), load("shift"), load("n")
	scale, at, value := v.regs[0], v.regs[1], v.regs[2]
	VBROADCASTSS(NewParamAddr("scale", 40), scale)
	Label("loop")
	VMOVUPS(Mem{Base: index}, at)
	v.gatherVector(Mem{Base: z, Index: at, Scale: 4}, value, v.regs[3])
	VMULPS(scale, value, value)
	VADDPS(Mem{Base: shift}, value, value)
	VMOVUPS(value, Mem{Base: dst})
	for _, pointer := range []reg.GPVirtual{dst, index, shift} {
		ADDQ(U32(v.bytes()), pointer)
	}
	SUBQ(U8(v.lanes), left)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// gatherVector fills a register from the memory that a vector of indices names.
func (v isa) gatherVector(from Mem, to, mask reg.VecPhysical) {
	VXORPS(to, to, to) // the old value does not matter, but the instruction waits for it
	if v.lanes == 16 {
		KXNORW(reg.K1, reg.K1, reg.K1)
		VGATHERDPS(from, reg.K1, to)
		return
	}
	VPCMPEQD(mask, mask, mask)
	VGATHERDPS(mask, from, to)
}

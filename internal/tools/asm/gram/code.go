package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// code generates the loop that centres and scales one row of values into panels.
func (m machine) code() {
	TEXT("code"+m.suffix, NOSPLIT, "func(dst *float32, stride int, src, shift, scale *float32, panels int) float32")
	Pragma("noescape")
	Doc(fmt.Sprintf("code%s writes a row into panels that lie stride apart and returns the largest magnitude, not of NaN:",
		m.suffix),
		"",
		"\tlargest := float32(0)",
		"\tfor p := range panels {",
		fmt.Sprintf("\t\tfor j := range %d {", panelColumns),
		fmt.Sprintf("\t\t\tm := p*%d + j", panelColumns),
		"\t\t\tdst[p*stride+j] = (src[m] - shift[m]) * scale[m]",
		"\t\t\tif size := abs(dst[p*stride+j]); size > largest {",
		"\t\t\t\tlargest = size",
		"\t\t\t}",
		"\t\t}",
		"\t}",
		"\treturn largest")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	src := Load(Param("src"), GP64())
	shift := Load(Param("shift"), GP64())
	scale := Load(Param("scale"), GP64())
	panels := Load(Param("panels"), GP64())
	SHLQ(operand.U8(2), stride)
	value, largest := m.vectors(panelColumns*4/m.bytes), m.vectors(panelColumns*4/m.bytes)
	magnitude := m.vector()
	m.ones(magnitude)
	VPSRLD(operand.U8(1), magnitude, magnitude)
	for _, v := range largest {
		m.zero(v)
	}
	Label("panel")
	for v := range value {
		VMOVUPS(operand.Mem{Base: src, Disp: v * m.bytes}, value[v])
	}
	for v := range value {
		VSUBPS(operand.Mem{Base: shift, Disp: v * m.bytes}, value[v], value[v])
	}
	for v := range value {
		VMULPS(operand.Mem{Base: scale, Disp: v * m.bytes}, value[v], value[v])
		VMOVUPS(value[v], operand.Mem{Base: dst, Disp: v * m.bytes})
	}
	for v := range value {
		VANDPS(magnitude, value[v], value[v])
		VMAXPS(largest[v], value[v], largest[v]) // returns the first operand here if one is NaN
	}
	ADDQ(operand.U32(4*panelColumns), src)
	ADDQ(operand.U32(4*panelColumns), shift)
	ADDQ(operand.U32(4*panelColumns), scale)
	ADDQ(stride, dst)
	DECQ(panels)
	JNZ(operand.LabelRef("panel"))
	most := m.largest(largest)
	VZEROUPPER()
	Store(most, ReturnIndex(0))
	RET()
}

// largest returns a vector whose first element is the largest element of some vectors, which it
// overwrites.
func (m machine) largest(vectors []reg.Register) reg.Register {
	all, half := vectors[0].(reg.VecVirtual), vectors[1].(reg.VecVirtual)
	for _, v := range vectors[1:] {
		VMAXPS(v, all, all)
	}
	if m.bytes == 64 {
		VEXTRACTF32X8(operand.U8(1), all, half.AsY())
		VMAXPS(half.AsY(), all.AsY(), all.AsY())
	}
	VEXTRACTF128(operand.U8(1), all.AsY(), half.AsX())
	for _, lanes := range []uint8{0b01_00_11_10, 0b10_11_00_01} { // swap pairs, then the elements of a pair
		VMAXPS(half.AsX(), all.AsX(), all.AsX())
		VPERMILPS(operand.U8(lanes), all.AsX(), half.AsX())
	}
	VMAXPS(half.AsX(), all.AsX(), all.AsX())
	return all.AsX()
}

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// code writes the loop that centres and scales one row of values into panels.
func (m machine) code() {
	TEXT("code"+m.suffix, NOSPLIT, "func(dst *float32, stride int, src, shift, scale *float32, panels int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("code%s writes a row into panels that lie stride apart:", m.suffix),
		"",
		"\tfor p := range panels {",
		fmt.Sprintf("\t\tfor j := range %d {", panelColumns),
		fmt.Sprintf("\t\t\tm := p*%d + j", panelColumns),
		"\t\t\tdst[p*stride+j] = (src[m] - shift[m]) * scale[m]",
		"\t\t}",
		"\t}")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	src, shift, scale := Load(Param("src"), GP64()), Load(Param("shift"), GP64()), Load(Param("scale"), GP64())
	panels := Load(Param("panels"), GP64())
	SHLQ(operand.U8(2), stride)
	value := m.vectors(panelColumns * 4 / m.bytes)
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
	ADDQ(operand.U32(4*panelColumns), src)
	ADDQ(operand.U32(4*panelColumns), shift)
	ADDQ(operand.U32(4*panelColumns), scale)
	ADDQ(stride, dst)
	DECQ(panels)
	JNZ(operand.LabelRef("panel"))
	VZEROUPPER()
	RET()
}

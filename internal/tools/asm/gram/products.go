package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	panelColumns = 48  // float32 columns of a panel
	blockRows    = 128 // rows of one float32 sum
	rowBytes     = 4 * panelColumns
	cacheLine    = 64
	ahead        = 16 // distance of the prefetch in rows, because panels come from the second-level cache
)

// products generates the tile of the Gram matrix: tileRows columns of one panel times columns of
// another.
func (m machine) products(columns int) {
	TEXT(fmt.Sprintf("products%d%s", columns, m.suffix), NOSPLIT, "func(c *float64, a, b *float32, rows int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("products%d%s adds the products of the columns of two panels, blocks of %d rows summed in float32,",
		columns, m.suffix, blockRows),
		"each multiplication and addition rounded once:",
		"",
		fmt.Sprintf("\tfor ; rows > 0; a, b, rows = a[%d*%d:], b[%d*%d:], rows-%d {", blockRows, panelColumns, blockRows,
			panelColumns, blockRows),
		fmt.Sprintf("\t\tfor i := range %d {", m.tileRows),
		fmt.Sprintf("\t\t\tfor j := range %d {", columns),
		"\t\t\t\tsum := float32(0)",
		fmt.Sprintf("\t\t\t\tfor r := range min(rows, %d) {", blockRows),
		fmt.Sprintf("\t\t\t\t\tsum = fma(a[r*%d+i], b[r*%d+j], sum)", panelColumns, panelColumns),
		"\t\t\t\t}",
		fmt.Sprintf("\t\t\t\tc[i*%d+j] += float64(sum)", panelColumns),
		"\t\t\t}",
		"\t\t}",
		"\t}")
	c := Load(Param("c"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	rows := Load(Param("rows"), GP64())
	vectors := columns * 4 / m.bytes
	sum := m.grid(vectors)
	right := m.vectors(vectors)
	factor := m.vectors(m.broadcasts)

	Label("block")
	for _, row := range sum {
		for _, v := range row {
			m.zero(v)
		}
	}
	count := GP64()
	MOVQ(operand.U32(blockRows), count)
	CMPQ(rows, count)
	CMOVQLT(rows, count)
	SUBQ(count, rows)
	Label("row")
	for v := range right {
		VMOVUPS(operand.Mem{Base: b, Disp: v * m.bytes}, right[v])
	}
	for i, row := range sum {
		f := factor[i%len(factor)]
		VBROADCASTSS(operand.Mem{Base: a, Disp: 4 * i}, f)
		for v := range row {
			VFMADD231PS(f, right[v], row[v])
		}
	}
	for line := 0; line < 4*columns; line += cacheLine {
		PREFETCHT0(operand.Mem{Base: b, Disp: ahead*rowBytes + line})
	}
	PREFETCHT0(operand.Mem{Base: a, Disp: ahead * rowBytes})
	ADDQ(operand.U32(rowBytes), a)
	ADDQ(operand.U32(rowBytes), b)
	DECQ(count)
	JNZ(operand.LabelRef("row"))
	m.widen(c, sum, right)
	TESTQ(rows, rows)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// widen adds the float32 sums to the float64 tile at c. spare are free registers.
func (m machine) widen(c reg.Register, sum [][]reg.Register, spare []reg.Register) {
	for i, row := range sum {
		for v, s := range row {
			at := operand.Mem{Base: c, Disp: 8 * (i*panelColumns + v*m.bytes/4)}
			m.widenHalf(at, s, spare[0], false)
			m.widenHalf(at.Offset(m.bytes), s, s, true)
		}
	}
}

// widenHalf adds the lower or the upper half of the float32 vector s to the float64 vector at. wide
// may be s.
func (m machine) widenHalf(at operand.Mem, s, wide reg.Register, upper bool) {
	half := s.(reg.VecVirtual).AsY()
	if m.bytes == 64 {
		if upper {
			VEXTRACTF32X8(operand.U8(1), s, half)
		}
		VCVTPS2PD(half, wide)
	} else {
		x := s.(reg.VecVirtual).AsX()
		if upper {
			VEXTRACTF128(operand.U8(1), s, x)
		}
		VCVTPS2PD(x, wide)
	}
	VADDPD(at, wide, wide)
	VMOVUPD(wide, at)
}

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stripColumns is the number of float64 columns of a strip of a matrix.
const stripColumns = 24

// subtract generates the tile of a matrix product in float64.
func (m machine) subtract() {
	TEXT("subtract"+m.suffix, NOSPLIT, "func(c, a *float64, aRow, aColumn int, b *float64, n int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("subtract%s subtracts a product of two matrices from the tile at c,", m.suffix),
		"with one rounding per multiply-subtract:",
		"",
		fmt.Sprintf("\tfor i := range %d {", m.tileRows),
		fmt.Sprintf("\t\tfor j := range %d {", m.subtractWidth),
		"\t\t\tfor p := range n {",
		fmt.Sprintf("\t\t\t\tc[i*%d+j] = fma(-a[p*aRow+i*aColumn], b[p*%d+j], c[i*%d+j])", stripColumns, stripColumns,
			stripColumns),
		"\t\t\t}",
		"\t\t}",
		"\t}")
	c, a := Load(Param("c"), GP64()), Load(Param("a"), GP64())
	aRow, aColumn := Load(Param("aRow"), GP64()), Load(Param("aColumn"), GP64())
	b, n := Load(Param("b"), GP64()), Load(Param("n"), GP64())
	SHLQ(operand.U8(3), aRow)
	SHLQ(operand.U8(3), aColumn)
	vectors := m.subtractWidth * 8 / m.bytes
	tile := m.grid(vectors)
	right := m.vectors(vectors)
	factor := m.vectors(m.broadcasts)
	m.eachOf(tile, c, func(at operand.Mem, v reg.Register) { VMOVUPD(at, v) })
	column := m.columns(a, aColumn)
	Label("next")
	for v := range right {
		VMOVUPD(operand.Mem{Base: b, Disp: v * m.bytes}, right[v])
	}
	for i, row := range tile {
		f := factor[i%len(factor)]
		VBROADCASTSD(column[i], f)
		for v := range row {
			VFNMADD231PD(f, right[v], row[v])
		}
	}
	ADDQ(aRow, a)
	ADDQ(operand.U32(8*stripColumns), b)
	DECQ(n)
	JNZ(operand.LabelRef("next"))
	m.eachOf(tile, c, func(at operand.Mem, v reg.Register) { VMOVUPD(v, at) })
	VZEROUPPER()
	RET()
}

// eachOf calls f for every vector of the tile at c.
func (m machine) eachOf(tile [][]reg.Register, c reg.Register, f func(at operand.Mem, v reg.Register)) {
	for i, row := range tile {
		for v := range row {
			f(operand.Mem{Base: c, Disp: 8*i*stripColumns + v*m.bytes}, row[v])
		}
	}
}

// columns returns the addresses of a[i*step] for the rows of a tile; step is in bytes.
func (m machine) columns(a, step reg.Register) []operand.Mem {
	three := GP64()
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, three)
	at := []operand.Mem{
		{Base: a}, {Base: a, Index: step, Scale: 1}, {Base: a, Index: step, Scale: 2}, {Base: a, Index: three, Scale: 1},
	}
	if m.tileRows == 4 {
		return at
	}
	five, seven := GP64(), GP64()
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 4}, five)
	LEAQ(operand.Mem{Base: three, Index: step, Scale: 4}, seven)
	return append(at, operand.Mem{Base: a, Index: step, Scale: 4}, operand.Mem{Base: a, Index: five, Scale: 1},
		operand.Mem{Base: a, Index: three, Scale: 2}, operand.Mem{Base: a, Index: seven, Scale: 1})
}

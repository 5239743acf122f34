// Command gram generates the assembly of training/internal/kernel.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, m := range []machine{avx512, avx2} {
		m.code()
		for _, columns := range m.productColumns {
			m.products(columns)
		}
		m.subtract()
	}
	Generate()
}

// machine describes a set of vector instructions to the loops.
type machine struct {
	suffix         string
	bytes          int // bytes of a vector
	tileRows       int // rows of a tile in registers
	productColumns []int
	subtractWidth  int // columns of a tile of subtract
	broadcasts     int // number of registers that alternate as broadcast factor
	vector         func() reg.Register
	zero           func(v reg.Register)
	ones           func(v reg.Register) // sets all bits
}

var avx512 = machine{
	suffix: "AVX512", bytes: 64, tileRows: 8, productColumns: []int{16, 32, 48}, subtractWidth: 24, broadcasts: 4,
	vector: func() reg.Register { return ZMM() },
	zero:   func(v reg.Register) { VPXORD(v, v, v) },
	ones:   func(v reg.Register) { VPTERNLOGD(operand.U8(0xff), v, v, v) },
}

var avx2 = machine{
	suffix: "AVX2", bytes: 32, tileRows: 4, productColumns: []int{16, 24}, subtractWidth: 12, broadcasts: 1,
	vector: func() reg.Register { return YMM() },
	zero:   func(v reg.Register) { VXORPS(v, v, v) },
	ones:   func(v reg.Register) { VPCMPEQD(v, v, v) },
}

func (m machine) vectors(n int) []reg.Register {
	v := make([]reg.Register, n)
	for i := range v {
		v[i] = m.vector()
	}
	return v
}

// grid returns the registers of a tile: [row][vector].
func (m machine) grid(vectors int) [][]reg.Register {
	g := make([][]reg.Register, m.tileRows)
	for i := range g {
		g[i] = m.vectors(vectors)
	}
	return g
}

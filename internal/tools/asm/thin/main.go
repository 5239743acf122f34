// Command thin generates the assembly of training/internal/thin.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	columns   = 16  // float32 columns of the thin matrix
	blockRows = 128 // terms of one float32 sum
)

// machine describes a set of vector instructions to the loop.
type machine struct {
	suffix   string
	bytes    int // bytes of a vector
	tileRows int // rows of a tile in registers
	factors  int // number of registers that alternate as broadcast factor
	vector   func() reg.Register
	zero     func(v reg.Register)
}

var machines = []machine{
	{
		suffix: "AVX512", bytes: 64, tileRows: 16, factors: 8,
		vector: func() reg.Register { return ZMM() },
		zero:   func(v reg.Register) { VPXORD(v, v, v) },
	},
	{
		suffix: "AVX2", bytes: 32, tileRows: 4, factors: 2,
		vector: func() reg.Register { return YMM() },
		zero:   func(v reg.Register) { VXORPS(v, v, v) },
	},
}

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, m := range machines {
		m.products()
	}
	Generate()
}

func (m machine) vectors(n int) []reg.Register {
	v := make([]reg.Register, n)
	for i := range v {
		v[i] = m.vector()
	}
	return v
}

// products generates the tile of a product with a thin matrix.
func (m machine) products() {
	TEXT("products"+m.suffix, NOSPLIT, "func(c *float64, a *float32, aTerm, aRow int, b *float32, terms int)")
	Pragma("noescape")
	m.describe()
	c, a := Load(Param("c"), GP64()), Load(Param("a"), GP64())
	aTerm, aRow := Load(Param("aTerm"), GP64()), Load(Param("aRow"), GP64())
	b, terms := Load(Param("b"), GP64()), Load(Param("terms"), GP64())
	SHLQ(operand.U8(2), aTerm)
	SHLQ(operand.U8(2), aRow)
	vectors := columns * 4 / m.bytes
	sum := m.vectors(m.tileRows * vectors)
	right := m.vectors(vectors)
	factor := m.vectors(m.factors)
	row, second := m.rows(a, aRow)

	Label("block")
	for _, v := range sum {
		m.zero(v)
	}
	count := GP64()
	MOVQ(operand.U32(blockRows), count)
	CMPQ(terms, count)
	CMOVQLT(terms, count)
	SUBQ(count, terms)
	Label("term")
	for v := range right {
		VMOVUPS(operand.Mem{Base: b, Disp: v * m.bytes}, right[v])
	}
	for i, at := range row {
		f := factor[i%len(factor)]
		VBROADCASTSS(at, f)
		for v := range right {
			VFMADD231PS(f, right[v], sum[i*vectors+v])
		}
	}
	ADDQ(aTerm, a)
	if second != nil {
		ADDQ(aTerm, second)
	}
	ADDQ(operand.U32(4*columns), b)
	DECQ(count)
	JNZ(operand.LabelRef("term"))
	for i, s := range sum {
		m.widen(operand.Mem{Base: c, Disp: 8 * i * m.bytes / 4}, s, right[0])
	}
	TESTQ(terms, terms)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

func (m machine) describe() {
	Doc(fmt.Sprintf("products%s adds the product of %d rows of a matrix with a thin one, blocks of %d terms summed in",
		m.suffix, m.tileRows, blockRows),
		"float32, each multiplication and addition rounded once:",
		"",
		fmt.Sprintf("\tfor ; terms > 0; a, b, terms = a[%d*aTerm:], b[%d*%d:], terms-%d {", blockRows, blockRows, columns,
			blockRows),
		fmt.Sprintf("\t\tfor i := range %d {", m.tileRows),
		fmt.Sprintf("\t\t\tfor j := range %d {", columns),
		"\t\t\t\tsum := float32(0)",
		fmt.Sprintf("\t\t\t\tfor t := range min(terms, %d) {", blockRows),
		fmt.Sprintf("\t\t\t\t\tsum = fma(a[t*aTerm+i*aRow], b[t*%d+j], sum)", columns),
		"\t\t\t\t}",
		fmt.Sprintf("\t\t\t\tc[i*%d+j] += float64(sum)", columns),
		"\t\t\t}",
		"\t\t}",
		"\t}")
}

// rows returns the addresses of a[i*step] for the rows of a tile, and the second register on which
// they are based besides a; step is in bytes.
func (m machine) rows(a, step reg.Register) (at []operand.Mem, second reg.Register) {
	three := GP64()
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, three)
	if m.tileRows == 4 {
		return []operand.Mem{
			{Base: a}, {Base: a, Index: step, Scale: 1}, {Base: a, Index: step, Scale: 2}, {Base: a, Index: three, Scale: 1},
		}, nil
	}
	five := GP64()
	seven := GP64()
	eighth := GP64()
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 4}, five)
	LEAQ(operand.Mem{Base: three, Index: step, Scale: 4}, seven)
	LEAQ(operand.Mem{Base: a, Index: step, Scale: 8}, eighth)
	for _, base := range []reg.Register{a, eighth} {
		at = append(at,
			operand.Mem{Base: base}, operand.Mem{Base: base, Index: step, Scale: 1},
			operand.Mem{Base: base, Index: step, Scale: 2}, operand.Mem{Base: base, Index: three, Scale: 1},
			operand.Mem{Base: base, Index: step, Scale: 4}, operand.Mem{Base: base, Index: five, Scale: 1},
			operand.Mem{Base: base, Index: three, Scale: 2}, operand.Mem{Base: base, Index: seven, Scale: 1})
	}
	return at, eighth
}

// widen adds the float32 vector s to the float64 values at. It overwrites s and wide.
func (m machine) widen(at operand.Mem, s, wide reg.Register) {
	v := s.(reg.VecVirtual)
	if m.bytes == 64 {
		VCVTPS2PD(v.AsY(), wide)
		VEXTRACTF32X8(operand.U8(1), s, v.AsY())
		VCVTPS2PD(v.AsY(), s)
	} else {
		VCVTPS2PD(v.AsX(), wide)
		VEXTRACTF128(operand.U8(1), s, v.AsX())
		VCVTPS2PD(v.AsX(), s)
	}
	VADDPD(at, wide, wide)
	VMOVUPD(wide, at)
	VADDPD(at.Offset(m.bytes), s, s)
	VMOVUPD(s, at.Offset(m.bytes))
}

// Command dots generates the assembly of training/internal/dots.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is the number of partial sums of a dot product.
const lanes = 8

// machine describes a set of vector instructions to the loop.
type machine struct {
	suffix string
	bytes  int // bytes of a vector
	vector func() reg.Register
	zero   func(v reg.Register)
}

var (
	avx512 = machine{"AVX512", 64, func() reg.Register { return ZMM() }, func(v reg.Register) { VPXORQ(v, v, v) }}
	avx2   = machine{"AVX2", 32, func() reg.Register { return YMM() }, func(v reg.Register) { VXORPD(v, v, v) }}
)

func main() {
	ConstraintExpr("amd64,!noasm")
	avx512.dots(4, 1)
	avx512.dots(4, 2)
	avx2.dots(4, 1)
	avx2.dots(2, 2)
	Generate()
}

func (m machine) vectors(n int) []reg.Register {
	v := make([]reg.Register, n)
	for i := range v {
		v[i] = m.vector()
	}
	return v
}

// dots generates the partial sums of the given numbers of rows and outputs.
func (m machine) dots(rows, outputs int) {
	name := fmt.Sprintf("dots%dx%d%s", rows, outputs, m.suffix)
	TEXT(name, NOSPLIT, "func(sum *float64, theta *float64, thetaStep int, z *float32, zStep int, terms int)")
	Pragma("noescape")
	describe(name, rows, outputs)
	sum := Load(Param("sum"), GP64())
	theta := Load(Param("theta"), GP64())
	thetaStep := Load(Param("thetaStep"), GP64())
	z := Load(Param("z"), GP64())
	zStep := Load(Param("zStep"), GP64())
	terms := Load(Param("terms"), GP64())
	SHLQ(operand.U8(3), thetaStep)
	SHLQ(operand.U8(2), zStep)
	parts := lanes * 8 / m.bytes // vectors of the lanes
	total := m.vectors(rows * outputs * parts)
	weight := m.vectors(outputs * parts)
	value := m.vectors(parts)
	for _, v := range total {
		m.zero(v)
	}
	row := steps(z, zStep, rows)

	Label("term")
	for k := range outputs {
		for p := range parts {
			at := operand.Mem{Base: theta, Disp: p * m.bytes}
			if k == 1 {
				at.Index, at.Scale = thetaStep, 1
			}
			VMOVUPD(at, weight[k*parts+p])
		}
	}
	for i, at := range row {
		for p := range parts {
			VCVTPS2PD(at.Offset(p*m.bytes/2), value[p])
		}
		for k := range outputs {
			for p := range parts {
				VFMADD231PD(value[p], weight[k*parts+p], total[(i*outputs+k)*parts+p])
			}
		}
	}
	ADDQ(operand.U32(8*lanes), theta)
	ADDQ(operand.U32(4*lanes), z)
	SUBQ(operand.U32(lanes), terms)
	JNZ(operand.LabelRef("term"))
	for i, v := range total {
		VMOVUPD(v, operand.Mem{Base: sum, Disp: i * m.bytes})
	}
	VZEROUPPER()
	RET()
}

// steps returns the addresses of z[i*step] for the rows; step is in bytes.
func steps(z, step reg.Register, rows int) []operand.Mem {
	at := []operand.Mem{{Base: z}, {Base: z, Index: step, Scale: 1}}
	if rows == 2 {
		return at
	}
	three := GP64()
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, three)
	return append(at, operand.Mem{Base: z, Index: step, Scale: 2}, operand.Mem{Base: z, Index: three, Scale: 1})
}

func describe(name string, rows, outputs int) {
	Doc(fmt.Sprintf("%s writes the partial sums of the dot products of %d rows with %d outputs.", name, rows, outputs),
		fmt.Sprintf("terms is a positive multiple of %d. Each multiplication and addition is rounded once:", lanes),
		"",
		fmt.Sprintf("\tfor i := range %d {", rows),
		fmt.Sprintf("\t\tfor k := range %d {", outputs),
		fmt.Sprintf("\t\t\tlane := sum[(i*%d+k)*%d:]", outputs, lanes),
		fmt.Sprintf("\t\t\tclear(lane[:%d])", lanes),
		"\t\t\tfor t := range terms {",
		fmt.Sprintf("\t\t\t\tlane[t%%%d] = fma(theta[k*thetaStep+t], float64(z[i*zStep+t]), lane[t%%%d])", lanes, lanes),
		"\t\t\t}",
		"\t\t}",
		"\t}")
}

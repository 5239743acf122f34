// Command fmapeak generates the assembly of package internal/fmapeak.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sums is the number of independent sums of a loop: more than latency (4 cycles) times ports (2),
// so that additions never wait.
const sums = 12

func main() {
	ConstraintExpr("amd64,!noasm")
	loop("loopAVX2", 8, vectors(YMM))
	loop("loopAVX512", 16, vectors(ZMM))
	Generate()
}

func vectors[V reg.Register](next func() V) func() reg.Register {
	return func() reg.Register { return next() }
}

// loop generates rounds·sums fused multiply-adds of width numbers that depend only on their own
// sum.
func loop(name string, width int, vector func() reg.Register) {
	TEXT(name, NOSPLIT, "func(rounds int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is, on vectors of %d float32:", name, width),
		"",
		"\tfor range rounds {",
		"\t\tfor i := range sums {",
		"\t\t\tsum[i] += a * b",
		"\t\t}",
		"\t}")
	rounds := Load(Param("rounds"), GP64())
	a, b := vector(), vector()
	zero(a, width)
	zero(b, width)
	sum := make([]reg.Register, sums)
	for i := range sum {
		sum[i] = vector()
		zero(sum[i], width)
	}
	Label("next")
	for _, s := range sum {
		VFMADD231PS(a, b, s)
	}
	DECQ(rounds)
	JNZ(operand.LabelRef("next"))
	VZEROUPPER()
	RET()
}

func zero(v reg.Register, width int) {
	if width == 16 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

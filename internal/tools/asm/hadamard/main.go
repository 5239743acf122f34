// Command hadamard writes the assembly of scoring/internal/hadamard.
package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, v := range []isa{avx512(), avx2()} {
		v.signs = v.levelSigns()
		v.transform()
		v.gather()
	}
	Generate()
}

// isa is an instruction set: its vectors and how they exchange lanes.
type isa struct {
	name  string
	lanes int
	regs  []reg.VecPhysical
	// signs are +1 in the lanes that take a sum and −1 in those that take a difference, one vector for each distance
	// of lanes in strides.
	signs   []Mem
	strides []int
}

func avx512() isa {
	return isa{name: "AVX512", lanes: 16, strides: []int{8, 4, 2, 1}, regs: []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11,
		reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	}}
}

func avx2() isa {
	return isa{name: "AVX2", lanes: 8, strides: []int{4, 2, 1}, regs: []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11,
		reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
}

// bytes is the size of a vector.
func (v isa) bytes() int { return 4 * v.lanes }

// levelSigns writes the sign vectors to memory.
func (v isa) levelSigns() []Mem {
	var all []Mem
	for _, stride := range v.strides {
		m := GLOBL("signs"+v.name+"stride"+strconv.Itoa(stride), 8|16) // RODATA|NOPTR
		for lane := range v.lanes {
			sign := float32(1)
			if lane&stride != 0 {
				sign = -1
			}
			DATA(4*lane, F32(sign))
		}
		all = append(all, m)
	}
	return all
}

// swap puts the lanes of from, exchanged at a distance of stride, into to.
func (v isa) swap(stride int, from, to reg.Register) {
	switch {
	case stride == 1:
		VPERMILPS(U8(0xb1), from, to)
	case stride == 2:
		VPERMILPS(U8(0x4e), from, to)
	case v.lanes == 8:
		VPERM2F128(U8(1), from, from, to)
	case stride == 4:
		VSHUFF64X2(U8(0xb1), from, from, to)
	default:
		VSHUFF64X2(U8(0x4e), from, from, to)
	}
}

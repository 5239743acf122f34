package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a set of vector instructions. Its methods hide the differences between the two sets.
type isa struct {
	name  string
	bytes int            // bytes of a vector
	regs  []reg.Register // all vector registers
}

var (
	avx2 = isa{"AVX2", 32, []reg.Register{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
	avx512 = isa{"AVX512", 64, []reg.Register{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}}
)

// wide reports whether s has vectors of 512 bits.
func (s isa) wide() bool { return s.bytes == 64 }

// multiplyAdd sets z to y·z + c, rounded once.
func (s isa) multiplyAdd(c Mem, y, z reg.Register) {
	if s.wide() {
		VFMADD213PS_BCST(c, y, z)
		return
	}
	VFMADD213PS(c, y, z)
}

// fill sets every number of z to a constant.
func (s isa) fill(c Mem, z reg.Register) {
	if s.wide() {
		VBROADCASTSS(c, z)
		return
	}
	VMOVUPS(c, z)
}

// fraction sets z to z − round(z), ties to even; exact where |z| < 2²².
func (s isa) fraction(z, scratch reg.Register) {
	if s.wide() {
		VREDUCEPS(U8(8), z, z)
		return
	}
	VROUNDPS(U8(8), z, scratch)
	VSUBPS(scratch, z, z)
}

// atMost sets z to min(z, c).
func (s isa) atMost(c Mem, z reg.Register) {
	if s.wide() {
		VMINPS_BCST(c, z, z)
		return
	}
	VMINPS(c, z, z)
}

// above sets z to max(z, 0), 0 for NaN; zero holds zeros.
func (s isa) above(zero, z reg.Register) { VMAXPS(zero, z, z) }

// step sets z to 1, ½ or 0 where it is above, equal to or below zero, and 0 for NaN; zero holds
// zeros.
func (s isa) step(zero, scratch, z reg.Register) {
	const equal, greater = 0, 30 // ordered, quiet
	if s.wide() {
		VCMPPS(U8(greater), zero, z, reg.K1)
		VCMPPS(U8(equal), zero, z, reg.K2)
		VBROADCASTSS_Z(one, reg.K1, z)
		VBROADCASTSS(half, reg.K2, z)
		return
	}
	VCMPPS(U8(equal), zero, z, scratch)
	VANDPS(half, scratch, scratch)
	VCMPPS(U8(greater), zero, z, z)
	VANDPS(one, z, z)
	VORPS(scratch, z, z)
}

// markNear marks where |z| is below farthest: in mask k at 512 bits, in near at 256 bits.
func (s isa) markNear(z, near reg.Register, k reg.OpmaskPhysical) {
	const less = 17 // ordered, quiet
	if s.wide() {
		VANDPS_BCST(absolute, z, near)
		VCMPPS_BCST(U8(less), farthest, near, k)
		return
	}
	VANDPS(absolute, z, near)
	VCMPPS(U8(less), farthest, near, near)
}

// keepNear clears z where markNear did not mark it.
func (s isa) keepNear(z, near reg.Register, k reg.OpmaskPhysical) {
	if s.wide() {
		VMOVAPS_Z(z, k, z)
		return
	}
	VANDPS(near, z, z)
}

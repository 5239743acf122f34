package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// slopes generates the kernel that computes cosines and their slopes from arguments; both
// polynomials share u = r² − ⅛. One row of a panel cannot fill the pipeline, but the next rows
// overlap with it.
func slopes(s isa) {
	s.slopesBy("slopes"+s.name, s.slopesOf,
		" writes the cosines of arguments in turns, rows of a panel, to dst and replaces them with slopes. rows > 0.",
		"cos(2πz), -sin(2πz) // 0 where |z| is 2²² or more")
}

// rampSlopes generates the same for ramps.
func rampSlopes(s isa) {
	s.slopesBy("rampSlopes"+s.name, s.rampSlopesOf,
		" writes the ramps of arguments, rows of a panel, to dst and replaces them with slopes. rows > 0.",
		"ramp(z), z > 0 ? 1 : 0")
}

// slopesBy generates a kernel whose loop body replace handles size vectors of arguments.
func (s isa) slopesBy(name string, replace func(dst, slope Mem, size int), does, values string) {
	TEXT(name, noSplit, "func(dst *float32, dstStride int, slope *float32, rows int)")
	Pragma("noescape")
	Doc(
		name+does,
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			z := slope[48*r+f]",
		"			dst[r*dstStride+f], slope[48*r+f] = "+values,
		"		}",
		"	}",
	)
	align()
	dst := load("dst")
	bytes := loadBytes("dstStride")
	slope := load("slope")
	rows := load("rows")
	Label(name + "Rows")
	const size = 3 // vectors at a time
	for first := 0; first < 4*panel/s.bytes; first += size {
		replace(Mem{Base: dst, Disp: first * s.bytes}, Mem{Base: slope, Disp: first * s.bytes}, size)
	}
	ADDQ(bytes, dst)
	ADDQ(U32(4*panel), slope)
	DECQ(rows)
	JNZ(LabelRef(name + "Rows"))
	VZEROUPPER()
	RET()
}

// rampSlopesOf generates the ramps and slopes of size vectors of arguments.
func (s isa) rampSlopesOf(dst, slope Mem, size int) {
	zero, ones := s.regs[0], s.regs[1]
	VXORPS(zero, zero, zero)
	s.fill(one, ones)
	for i := range size {
		z, above := s.regs[2+2*i], s.regs[3+2*i]
		VMOVUPS(slope.Offset(i*s.bytes), z)
		s.pick(greater, zero, z, ones, above)
		s.above(zero, z)
		s.atMost(largest, z)
		VMOVUPS(z, dst.Offset(i*s.bytes))
		VMOVUPS(above, slope.Offset(i*s.bytes))
	}
}

// pick copies from into to where the predicate holds for z and zero, otherwise to 0.
func (s isa) pick(predicate uint8, zero, z, from, to reg.Register) {
	if s.wide() {
		VCMPPS(U8(predicate), zero, z, reg.K1)
		VMOVAPS_Z(from, reg.K1, to)
		return
	}
	VCMPPS(U8(predicate), zero, z, to)
	VANDPS(from, to, to)
}

// slopesOf generates the cosines and slopes of size vectors of arguments.
func (s isa) slopesOf(dst, slope Mem, size int) {
	masks := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3}
	r := s.regs[:size]
	u := s.regs[size : 2*size]
	cos := s.regs[2*size : 3*size]
	near := s.regs[3*size : 4*size]
	sin, scratch := s.regs[4*size:5*size], s.regs[5*size]
	for i := range size {
		VMOVUPS(slope.Offset(i*s.bytes), r[i])
		s.markNear(r[i], near[i], masks[i])
		s.fraction(r[i], scratch)
		VMOVAPS(r[i], u[i])
		s.multiplyAdd(eighth, r[i], u[i])
		s.fill(polynomial[0], cos[i])
		s.fill(sinePolynomial[0], sin[i])
	}
	for power := range polynomial[1:] {
		for i := range size {
			s.multiplyAdd(polynomial[power+1], u[i], cos[i])
			s.multiplyAdd(sinePolynomial[power+1], u[i], sin[i])
		}
	}
	VXORPS(scratch, scratch, scratch)
	for i := range size {
		VFMADD213PS(scratch, r[i], sin[i]) // adding zero turns −0 into +0
		s.keepNear(cos[i], near[i], masks[i])
		s.keepNear(sin[i], near[i], masks[i])
		VMOVUPS(cos[i], dst.Offset(i*s.bytes))
		VMOVUPS(sin[i], slope.Offset(i*s.bytes))
	}
}

// weigh generates the kernel that multiplies rows of a panel by a product of thin matrices; the
// tiles of a group cover a panel.
func weigh(s isa, groups ...[]tile) {
	name := "weigh" + s.name
	TEXT(name, noSplit, "func(dst *float32, x *float32, xStride int, w *float32, dim int, rows int)")
	Pragma("noescape")
	Doc(
		name+" multiplies rows of a panel by sums of products. rows and dim are positive.",
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			sum := float32(0)",
		"			for k := range dim {",
		"				sum = fma(x[r*xStride+k], w[48*k+f], sum)",
		"			}",
		"			dst[48*r+f] *= sum",
		"		}",
		"	}",
	)
	align()
	dst := load("dst")
	x := load("x")
	rows := load("rows")
	for _, group := range groups {
		t := group[0]
		Label(t.label("Rows"))
		CMPQ(rows, U8(t.rows))
		JL(LabelRef(t.label("End")))
		for _, part := range group {
			part.weigh(dst, x)
		}
		bytes := loadBytes("xStride")
		IMUL3Q(U8(t.rows), bytes, bytes)
		ADDQ(bytes, x)
		ADDQ(U32(4*panel*t.rows), dst)
		SUBQ(U8(t.rows), rows)
		JMP(LabelRef(t.label("Rows")))
		Label(t.label("End"))
	}
	VZEROUPPER()
	RET()
}

// weigh generates the multiplication of the tile at dst.
func (t tile) weigh(dst, x reg.GPVirtual) {
	for _, z := range t.regs[:t.rows*t.vectors] {
		VXORPS(z, z, z)
	}
	t.products(x)
	for r := range t.rows {
		for v := range t.vectors {
			at := Mem{Base: dst, Disp: 4*panel*r + t.offset + v*t.bytes}
			VMULPS(at, t.acc(r, v), t.acc(r, v))
			VMOVUPS(t.acc(r, v), at)
		}
	}
}

// Command standardize generates the assembly of arrowio/encoder/internal/standardize.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is the numbers per turn of the loop: two float64 vectors become one float32 vector.
const lanes = 8

// notLess is the comparison predicate "not less than", which is true for NaN.
const notLess = 5

func main() {
	ConstraintExpr("amd64,!noasm")
	c := constants{
		midway: quads("midway", 1<<28+4), low: quads("low", 1<<29-8), absolute: quads("absolute", 0x7fffffff7fffffff),
	}
	for _, v := range []variant{
		{name: "columnFloat32", bytes: 4}, {name: "columnFloat64", bytes: 8},
		{name: "rowFloat32", bytes: 4, tables: true}, {name: "rowFloat64", bytes: 8, tables: true},
	} {
		v.write(c)
	}
	Generate()
}

// constants are vectors in memory.
type constants struct {
	midway   Mem // sets the low bits of a float64 to 0 if it is within four units of a midpoint
	low      Mem // mask of these bits
	absolute Mem // all bits of a float32 except the sign
}

// quads stores a vector of one 64-bit number.
func quads(name string, bits uint64) Mem {
	m := GLOBL(name, 8|16) // RODATA|NOPTR
	for i := range 4 {
		DATA(8*i, U64(bits))
	}
	return m
}

// variant is one of the generated functions.
type variant struct {
	name string
	// bytes is the size of a number of src.
	bytes int
	// tables means that shift and times have a value per number instead of one for all.
	tables bool
}

// signature returns the Go signature.
func (v variant) signature() string {
	src := map[int]string{4: "*float32", 8: "*float64"}[v.bytes]
	if v.tables {
		return "func(dst *float32, src " + src + ", shift, times *float64, bound float32, n int) int"
	}
	return "func(dst *float32, src " + src + ", shift, times float64, bound float32, n int) int"
}

// doc returns the Go loop that the function computes.
func (v variant) doc() []string {
	index := ""
	if v.tables {
		index = "[i]"
	}
	return []string{
		v.name + " standardizes n numbers, 8 or more, while their bits are certain, and returns their number.",
		"It stops up to 7 numbers before the first that is not certain; dst is undefined from there on.",
		"",
		"	for i := range n {",
		"		z := (float64(src[i]) - shift" + index + ") * times" + index,
		"		if (math.Float64bits(z)+1<<28+4)&(1<<29-8) == 0 || !(abs(float32(z)) < bound) {",
		"			return i &^ 7",
		"		}",
		"		dst[i] = float32(z)",
		"	}",
		"	return n",
	}
}

// write generates the function: a loop over eight numbers at a time. The last turn handles the last
// eight, some of which the previous turn may have handled.
func (v variant) write(c constants) {
	TEXT(v.name, 4, v.signature()) // NOSPLIT
	Pragma("noescape")
	Doc(v.doc()...)
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	shift, times := v.operands()
	bound, zero := YMM(), YMM()
	VBROADCASTSS(NewParamAddr("bound", 32), bound)
	VPXOR(zero, zero, zero)
	done := GP64()
	at := GP64()
	last := GP64()
	XORQ(done, done)
	LEAQ(Mem{Base: n, Disp: -lanes}, last)

	Label("loop")
	MOVQ(done, at)
	CMPQ(last, at)
	CMOVQLT(last, at)
	lo, bad := v.half(c, src, at, shift, times, 0, zero)
	hi, worse := v.half(c, src, at, shift, times, 1, zero)
	VINSERTF128(U8(1), hi.AsX(), lo, lo)
	size := YMM()
	VANDPS(c.absolute, lo, size)
	VCMPPS(U8(notLess), bound, size, size)
	VPOR(bad, worse, bad)
	VPOR(bad, size, bad)
	VPTEST(bad, bad)
	JNE(LabelRef("stop"))
	VMOVUPS(lo, Mem{Base: dst, Index: at, Scale: 4})
	LEAQ(Mem{Base: at, Disp: lanes}, done)
	CMPQ(done, n)
	JLT(LabelRef("loop"))
	Label("stop")
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// operands loads shift and times: pointers to the tables, or vectors of one number.
func (v variant) operands() (shift, times reg.Register) {
	if v.tables {
		return Load(Param("shift"), GP64()), Load(Param("times"), GP64())
	}
	one, two := YMM(), YMM()
	VBROADCASTSD(NewParamAddr("shift", 16), one)
	VBROADCASTSD(NewParamAddr("times", 24), two)
	return one, two
}

// half generates four of the numbers: in float32 in the lower half of x, and in near a mask of the
// numbers too near a midpoint.
func (v variant) half(
	c constants,
	src, at reg.Register,
	shift, times reg.Register,
	i int,
	zero reg.VecVirtual,
) (x, near reg.VecVirtual) {
	z := YMM()
	from := Mem{Base: src, Index: at, Scale: uint8(v.bytes), Disp: 4 * v.bytes * i}
	if v.bytes == 4 {
		VCVTPS2PD(from, z)
	} else {
		VMOVUPD(from, z)
	}
	if v.tables {
		VSUBPD(Mem{Base: shift, Index: at, Scale: 8, Disp: 32 * i}, z, z)
		VMULPD(Mem{Base: times, Index: at, Scale: 8, Disp: 32 * i}, z, z)
	} else {
		VSUBPD(shift, z, z)
		VMULPD(times, z, z)
	}
	near = YMM()
	VPADDQ(c.midway, z, near)
	VPAND(c.low, near, near)
	VPCMPEQQ(zero, near, near)
	x = YMM()
	VCVTPD2PSY(z, x.AsX())
	return x, near
}

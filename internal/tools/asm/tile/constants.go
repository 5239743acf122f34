package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// cosine are the coefficients of kernel.Cos, highest power of u first. A test compares the kernels
// with kernel.Cos.
var cosine = []float32{
	6.5296549797058105, -21.070955276489258, 45.46820831298828, -59.168697357177734,
	38.05276107788086, -7.070344924926758, -0.6056999564170837,
}

// sine are the coefficients of kernel.Slope.
var sine = []float32{
	-3.199693202972412, 12.468840599060059, -33.47321319580078, 57.891700744628906,
	-56.50227355957031, 24.225139617919922, -2.2505602836608887,
}

// Constants in memory, each eight times, for both widths of vectors: 256 bits load all eight, 512
// bits broadcast one.
var (
	polynomial     []Mem // of cosine
	sinePolynomial []Mem // of sine
	eighth         Mem   // −⅛
	absolute       Mem   // all bits except the sign
	farthest       Mem   // kernel's maxTurns
	largest        Mem   // the greatest finite float32
	half           Mem   // ½
	one            Mem   // 1
)

func constants() {
	for i, c := range cosine {
		polynomial = append(polynomial, constant("cosine"+string(rune('6'-i)), math.Float32bits(c)))
	}
	for i, c := range sine {
		sinePolynomial = append(sinePolynomial, constant("sine"+string(rune('6'-i)), math.Float32bits(c)))
	}
	eighth = constant("eighth", math.Float32bits(-0.125))
	absolute = constant("absolute", 1<<31-1)
	farthest = constant("farthest", math.Float32bits(1<<22))
	largest = constant("largest", math.Float32bits(math.MaxFloat32))
	half = constant("half", math.Float32bits(0.5))
	one = constant("one", math.Float32bits(1))
}

// constant stores one number eight times.
func constant(name string, bits uint32) Mem {
	m := GLOBL(name, 8|16) // RODATA|NOPTR
	for i := range 8 {
		DATA(4*i, U32(bits))
	}
	return m
}

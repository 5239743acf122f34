// Package standardize computes float32((v - shift)/scale), rounded as if by a division in float64
// and then to float32, without dividing.
//
// It multiplies by the reciprocal. The product z differs from the rounded quotient by less than
// three units in its last place: one half for each rounding of quotient, reciprocal and product,
// twice that if the leading digits differ. Rounded to float32, both are the same unless a point
// midway between two float32 numbers lies between them. That is possible only if the low 29 bits of
// z are within four of 2²⁸, once in 10⁸ numbers of no particular form. In that case, and if the
// result is not below a bound, the functions stop and leave the number to the caller, who divides.
//
// The estimate requires z to be a normal float32. [Reciprocal] ensures that.
package standardize

import (
	"math"
	"unsafe"
)

//go:generate go run -C ../../../../internal/tools ./asm/standardize -out ../../arrowio/encoder/internal/standardize/kernel_amd64.s -stubs ../../arrowio/encoder/internal/standardize/kernel_amd64.go -pkg standardize

// Lanes bounds how many numbers the functions may leave to the caller before they can continue.
const Lanes = 8

// Bit masks that tell how far a float64 is from a point midway between two float32 numbers: with
// midway added, the bits of low are 0 from four units below to three above.
const (
	midway = 1<<28 + 4
	low    = 1<<29 - 8
)

// Reciprocal returns the factor that replaces a division by scale. If there is none it returns NaN,
// which makes the functions stop at every number. A power of two can always be multiplied by.
// Otherwise the reciprocal must be normal, and shift large enough relative to scale that v - shift,
// which is 0 or not far below the last place of shift, cannot give a result below the normal
// float32 numbers.
func Reciprocal(shift, scale float64) float64 {
	r := 1 / scale
	if half, _ := math.Frexp(scale); half == 0.5 && !math.IsInf(r, 0) {
		return r
	}
	if math.Abs(shift) < 0x1p-60*scale || r < 0x1p-1022 || math.IsInf(r, 0) {
		return math.NaN()
	}
	return r
}

// Column sets dst[i] to the standardized src[i], for one shift and the factor of one scale, and
// returns how many it did: all, or up to [Lanes] - 1 fewer than those before the first number whose
// result is not certain or whose magnitude is not below bound. The rest of dst is arbitrary.
func Column[T float32 | float64](dst []float32, src []T, shift, times float64, bound float32) int {
	if len(dst) != len(src) {
		panic("standardize: source and destination differ in length")
	}
	if n, done := columnVector(dst, src, shift, times, bound); done {
		return n
	}
	return columnPlain(dst, src, shift, times, bound)
}

// Row is [Column] with a shift and a factor for each number.
func Row[T float32 | float64](dst []float32, src []T, shift, times []float64, bound float32) int {
	if len(dst) != len(src) || len(dst) != len(shift) || len(dst) != len(times) {
		panic("standardize: source, destination and tables differ in length")
	}
	if n, done := rowVector(dst, src, shift, times, bound); done {
		return n
	}
	return rowPlain(dst, src, shift, times, bound)
}

// columnPlain is Column in plain Go.
func columnPlain[T float32 | float64](dst []float32, src []T, shift, times float64, bound float32) int {
	dst = dst[:len(src)]
	for i, v := range src {
		x, certain := multiply(float64(v), shift, times, bound)
		if !certain {
			return i
		}
		dst[i] = x
	}
	return len(src)
}

// rowPlain is Row in plain Go.
func rowPlain[T float32 | float64](dst []float32, src []T, shift, times []float64, bound float32) int {
	dst, shift, times = dst[:len(src)], shift[:len(src)], times[:len(src)]
	for i, v := range src {
		x, certain := multiply(float64(v), shift[i], times[i], bound)
		if !certain {
			return i
		}
		dst[i] = x
	}
	return len(src)
}

// multiply returns one result and whether it is certain and below bound.
func multiply(v, shift, times float64, bound float32) (float32, bool) {
	z := (v - shift) * times
	x := float32(z)
	return x, (math.Float64bits(z)+midway)&low != 0 && math.Float32frombits(math.Float32bits(x)&^(1<<31)) < bound
}

// isFloat32 reports whether T is float32.
func isFloat32[T float32 | float64]() bool {
	var v T
	return unsafe.Sizeof(v) == 4
}

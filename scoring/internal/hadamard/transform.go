package hadamard

import (
	"fmt"
	"math/bits"

	"github.com/eerf-stream/eerf/internal/simd"
)

// MaxOrder is the greatest n of a transform.
const MaxOrder = 1 << 20

// callNumbers bounds the numbers of one call of assembly, which the scheduler cannot interrupt.
const callNumbers = 1 << 16

// Transform sets each row of dst to H·(diag∘row) of the same row of src: rows of n numbers, n a power of two up to
// [MaxOrder], diag the n numbers of a diagonal. dst may be src.
func Transform(dst, src, diag []float32, n int) {
	if bits.OnesCount(uint(n)) != 1 || n > MaxOrder || len(diag) != n || len(dst)%n != 0 || len(src) != len(dst) {
		panic(fmt.Sprintf("hadamard: %d numbers to %d by a diagonal of %d in rows of %d", len(src), len(dst), len(diag), n))
	}
	transformAt(simd.Best(), dst, src, diag, n)
}

// transformAt is Transform with the instructions of a level.
func transformAt(level simd.Level, dst, src, diag []float32, n int) {
	step := max(callNumbers/n, 1) * n
	for first := 0; first < len(dst); first += step {
		next := min(first+step, len(dst))
		transformVectors(level, dst[first:next], src[first:next], diag, n)
	}
}

// transformGo is the arithmetic of Transform.
func transformGo(dst, src, diag []float32, n int) {
	for first := 0; first < len(dst); first += n {
		row := dst[first : first+n]
		for j, x := range src[first : first+n] {
			row[j] = float32(x * diag[j])
		}
		stride := n / 2
		for ; stride >= 2; stride /= 4 {
			twoLevels(row, stride)
		}
		if stride == 1 {
			for j := 0; j < n; j += 2 {
				row[j], row[j+1] = row[j]+row[j+1], row[j]-row[j+1]
			}
		}
	}
}

// twoLevels does the butterflies at distance stride and at half of it, for one load and one store of each number.
func twoLevels(row []float32, stride int) {
	half := stride / 2
	for ; len(row) > 0; row = row[2*stride:] {
		r0, r1 := row[:half], row[half:stride][:half]
		r2, r3 := row[stride:][:half], row[stride+half:][:half]
		for j, a := range r0 {
			b, c, d := r1[j], r2[j], r3[j]
			a, c = a+c, a-c
			b, d = b+d, b-d
			r0[j], r1[j] = a+b, a-b
			r2[j], r3[j] = c+d, c-d
		}
	}
}

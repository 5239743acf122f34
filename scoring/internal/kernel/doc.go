// Package kernel has the two inner loops of random features: [Score], which adds φ(x, ω) to sums and stores no more of
// it than the caches hold, and [Set.Featurize], which stores it. Both are a float32 matrix product with an epilogue per
// element. [Rows.Fill] does both, into a [Store], for rows that are scored several times. [Cos] is the cosine that they use.
//
// # Layout
//
// Rows are used as they come, row-major. ω is packed once into panels of [Width] features: [panel][Dim][Width], the
// last panel padded with zeros, so that a tile reads both operands in sequence. For the cosine, ω is divided by 2π in
// float64 before it is narrowed, and the phase is kept in turns, so that the argument comes out in turns and a
// subtraction takes off its period.
//
// # Products
//
// Hinges and boxes ([PackFactors]) have no argument: each reads up to three numbers of a row. For them rows are transposed once for
// all panels, 64 at a time, so that nothing is gathered: a vector is a coordinate of as many rows. Products are computed
// feature by feature into the first-level cache and transposed back, into the columns of a [Set] or into a panel, where sums are
// added as for every other map. One row, and up to seven, is taken as it is, a product at a time.
//
// # Levels
//
// A tile of 8 rows by 48 features has its arguments in the registers of AVX-512, one of 4 by 24 in those of AVX2; the
// feature map is applied to the registers. Score lets tiles write features to a few kilobytes that stay in the
// first-level cache, and adds those to float64 sums: the conversion is then part of a load, which leaves the arithmetic
// ports to the product. With AVX-512 and targets of one value or of classes both are one call of assembly, bounded in
// time because it cannot be interrupted. internal/tools/asm/tile writes the assembly. Plain Go does the work everywhere
// else.
//
// # Bits
//
// An element is start + Σ_k x_k·ω_k in float32, k rising, where start is the phase in turns or zero. The assembly
// rounds a product and its addition once, plain Go rounds both, hence two [Name]s; AVX2 and AVX-512 give the same bits.
// Terms of sums are widened to float64 first. A product of two widened float32 numbers is exact, so fusing it with the
// addition changes nothing. A sum grows in row order from its earlier value. Hence bits depend neither on tiles nor on
// how rows are cut into calls. Products have no sum: a difference, each product of two factors and that with the weight are
// rounded, in plain Go as in assembly, and all levels give the same bits.
//
// # Zeros
//
// If at least half of the numbers of rows are zero, as in indicators of categories and in images, the others are
// listed, row by row, once for all panels, and the products go along the lists. Leaving out a product with zero changes
// no bit of a feature: weights are finite where there are lists, so it would be zero, and adding zero changes at most
// the sign of a zero, which no map distinguishes. One list per row beats a list of the columns in which any row of a
// tile has a number, which are two to four times as many.
//
// # Numbers that are not finite
//
// Rows should be finite. A row with an infinity or NaN, or with products beyond float32, still gets finite values of φ:
// a cosine whose argument is not a number or beyond 2²² turns is 0, a step or ramp of NaN is 0, a ramp ends at the
// greatest finite float32. So does a hinge, whose factors are 0 for NaN, and which is 0 where one factor is 0 and another infinite;
// a box compares an infinity as it is and is 0 for NaN. What φ is then multiplied by may take it beyond, and a coordinate is x as it came.
package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// Width is the number of features in a panel.
const Width = 48

// Name names the arithmetic of this process. It changes whenever the bits of a feature or of a sum change.
func Name() string { return nameOf(simd.Best()) }

// nameOf names the arithmetic of a level.
func nameOf(level simd.Level) string {
	if level == simd.None {
		return "go2"
	}
	return "fma1"
}

// Package kernel has the two inner loops of random features: [Score], which adds φ(x, ω) to sums
// and keeps it only in caches, and [Set.Featurize], which stores it. Both are a float32 matrix
// product with an epilogue per element. [Rows.Fill] does both, into a [Store], for rows that are
// scored several times. [Cos] is their cosine.
//
// # Layout
//
// Rows are row-major and not repacked. ω is packed once into panels of [Width] features:
// [panel][Dim][Width], the last panel padded with zeros, so that a tile reads both operands in
// sequence. For the cosine, ω is divided by 2π in float64 before it is narrowed, and the phase is
// kept in turns, so that the argument is in turns and a subtraction removes its period.
//
// # Products
//
// Hinges and boxes ([PackFactors]) have no argument: each reads up to three numbers of a row. Rows
// are transposed for them once for all panels, 64 at a time, so that a vector holds one coordinate
// of several rows and no gathers are needed. Products are computed feature by feature into the
// first-level cache and transposed back, into the columns of a [Set] or into a panel, whose sums
// are added as for every other map. Up to seven rows are not transposed; their products are
// computed one at a time.
//
// # Levels
//
// The arguments of a tile are in registers, 8 rows by 48 features with AVX-512 and 4 by 24 with
// AVX2; the feature map is applied to the registers. Score writes the features of a tile to a few
// kilobytes that stay in the first-level cache, and adds them to float64 sums: the conversion is
// then part of a load, which leaves the arithmetic ports to the product. With AVX-512, and targets
// of one value or of classes, both steps are one call of assembly, bounded in time because it
// cannot be interrupted. internal/tools/asm/tile generates the assembly. Other processors run plain
// Go.
//
// # Bits
//
// An element is start + Σ_k x_k·ω_k in float32, k rising, where start is the phase in turns or
// zero. The assembly rounds a product and its addition once, plain Go rounds both, hence two
// [Name]s; AVX2 and AVX-512 give the same bits. Terms of sums are widened to float64 first. A
// product of two widened float32 numbers is exact, so fusing it with the addition changes nothing.
// A sum grows in row order from its earlier value. Hence bits depend neither on tiles nor on the
// division of rows into calls. Hinges and boxes have no sum: their differences, products of factors
// and products with the weight are each rounded, in plain Go as in assembly, and all levels give
// the same bits.
//
// # Zeros
//
// If at least half of the numbers of rows are zero, as in indicators of categories and in images,
// the nonzero numbers are listed, row by row, once for all panels, and products follow the lists.
// Omitting a product with zero changes no bit of a feature: lists are only used with finite
// weights, so the product would be zero, and adding zero changes at most the sign of a zero, which
// no map distinguishes. One list per row is faster than one list per tile of the columns in which
// any row has a number, because there are two to four times as many of them.
//
// # Numbers that are not finite
//
// Rows should be finite. A row with an infinity or NaN, or with products beyond float32, still gets
// finite values of φ: a cosine whose argument is NaN or beyond 2²² turns is 0, a step or ramp of
// NaN is 0, and ramps are clamped to the greatest finite float32. Hinges are clamped likewise;
// their factors are 0 for NaN, and they are 0 where one factor is 0 and another infinite. A box
// compares infinities and is 0 for NaN. The multiplication by a factor may still overflow, and
// coordinates are copied unchanged.
package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// Width is the number of features in a panel.
const Width = 48

// Name names the arithmetic of this process. It changes whenever the bits of a feature or of a sum
// change.
func Name() string { return nameOf(simd.Best()) }

// nameOf names the arithmetic of a level.
func nameOf(level simd.Level) string {
	if level == simd.None {
		return "go2"
	}
	return "fma1"
}

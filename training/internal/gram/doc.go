// Package gram sums the second moments of rows at the speed of the processor's float32
// multiply-adds.
//
// A row is (z, y, 1). Its values are first centred and scaled, column by column, by a shift and a
// power of two that the first block of rows decides. If a value would still be too large for
// float32, the power of its column becomes smaller from that row on, which changes no digit of the
// sums so far. A block of kernel.BlockRows rows is then multiplied in float32, each element of the
// Gram matrix in one chain of fused multiply-adds in row order, and its sums are added in float64
// to the totals.
//
// Blocks are counted from the first row of a Gram, and each element has one owner. The totals
// therefore depend only on the order of the rows, not on how rows were cut into calls and not on
// the number of goroutines. AVX-512 and AVX2 give the same bits; plain Go gives others (see package
// kernel).
//
// Centring makes float32 sufficient. An element of a block is off by about 2⁻²⁵·√BlockRows times
// the root mean squares of its two columns, and errors of blocks average out. About a shift near
// the mean those root mean squares are standard deviations, so covariances keep their digits
// however far a column is from zero, and a constant column is exactly zero. Merged sums take the
// shifts of the part with more rows, and the other part is recoded to them in float64.
package gram

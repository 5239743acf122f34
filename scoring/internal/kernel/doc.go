// Package kernel has the two inner loops of random features: [Score], which adds φ(x, ω) to sums without storing
// it, and [Featurize], which stores it. Both are a float32 matrix product with an epilogue per element.
//
// The Go here is the specification of the arithmetic. A vector kernel may stand in for Score and Featurize with panels
// of another width; its results then carry another [Name], for its bits may differ.
//
// # Layout
//
// Rows are used as they come, row-major. ω is packed once into panels of [Width] features: [panel][Dim][Width], the
// last panel padded with zeros, so that a tile reads both operands in sequence. For the cosine ω is divided by 2π in
// float64 before it is narrowed and the phase is kept in turns, so that the argument comes out in turns and its period
// is taken off by a subtraction.
//
// # Bits
//
// An element is start + Σ_k x_k·ω_k in float32, k rising, start the phase in turns or zero, each product rounded before it
// is added. Terms of sums are widened to float64 first; a product of two widened float32 numbers is exact, so fusing it
// with the addition would change nothing. A sum grows in row order from the value that it had. Hence bits depend neither
// on tiles nor on how rows are cut into calls, and architectures agree.
package kernel

// Name names the arithmetic of this package. It changes whenever the bits of a feature or of a sum change.
const Name = "go1"

// Width is the number of features in a panel: eight accumulators hide the latency of the additions and fit the
// registers that Go has, so one row at a time runs as fast as several.
const Width = 8

// Package methods has the mathematics of methods that only a comparison uses, in addition to those of package scoring:
// learned kernels ([LearnKernel]), weights that bring the kernel of plain features closer to the exact one
// ([SteinWeights]), and leverage scores ([LeverageScores]). Each chooses or weights candidates, given the features of
// all sampled rows, and returns a [Weighting].
//
// Rows are dense, row-major float32 and finite, as in package scoring. Inputs are read, never kept or changed.
// Functions are safe for concurrent use, use up to GOMAXPROCS goroutines and return when all have ended; the number of
// goroutines does not change the result. Wrong shapes are the caller's mistakes and panic with a message that begins
// with "methods: "; unusable data gives an error.
package methods

// Package methods is the mathematics of methods that only a comparison uses, beside those of package scoring: learned kernels
// ([LearnKernel]), weights that bring the kernel of plain features near to the exact one ([SteinWeights]) and leverage scores
// ([LeverageScores]). Each chooses or weighs candidates with the features of all sampled rows at hand, and gives a
// [Weighting].
//
// Rows are dense, row-major float32 and finite, as in package scoring; inputs are read, never kept nor changed. Functions are
// safe for concurrent use, use up to GOMAXPROCS goroutines and return when all have ended; their number changes no bit. Wrong
// shapes are mistakes of the caller and panic with a message that begins with "methods: "; data that cannot be used gives an
// error.
package methods

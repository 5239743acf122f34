// Package hadamard has the fast Walsh-Hadamard transform of float32 rows, and the selection of numbers out of
// transformed rows.
//
// H of order n = 2ᵏ has the entry (−1)^popcount(i∧j) in row i and column j; it is not normalised, so H·H = n·I. [Transform]
// computes it by k levels of butterflies (a, b) → (a+b, a−b), the greatest distance first. A level is one rounded addition
// or subtraction for each number, whatever computes it: assembly and plain Go give equal bits. Numbers that are whole and
// stay within 2²⁴ on the way are transformed exactly.
//
// Sums of scores are made from these numbers: a change of their bits is a change of kernel.Name.
package hadamard

//go:generate go run -C ../../../internal/tools ./asm/hadamard -out ../../scoring/internal/hadamard/hadamard_amd64.s -stubs ../../scoring/internal/hadamard/hadamard_amd64.go -pkg hadamard

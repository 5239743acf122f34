//go:build amd64 && !noasm

package fmapeak

import "github.com/eerf-stream/eerf/internal/simd"

// choose returns the loop of a level and the numbers in one of its vectors.
func choose(level simd.Level) (loop func(rounds int), width int) {
	switch level {
	case simd.AVX512:
		return loopAVX512, 16
	case simd.AVX2:
		return loopAVX2, 8
	default:
		return loopGo, scalarWidth
	}
}

//go:build !amd64 || noasm

package fmapeak

import "github.com/eerf-stream/eerf/internal/simd"

// choose returns the loop of a level and the numbers in one of its vectors.
func choose(simd.Level) (loop func(rounds int), width int) { return loopGo, scalarWidth }

//go:build !amd64 || noasm

package hadamard

import "github.com/eerf-stream/eerf/internal/simd"

func transformVectors(_ simd.Level, dst, src, diag []float32, n int) { transformGo(dst, src, diag, n) }

func gatherVectors(simd.Level, []float32, []float32, []int32, []float32, float32) int { return 0 }

//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

var best = detect()

// Limit lowers [Best] to at most a level. Call it at the start of a process, before the first
// computation.
func Limit(level Level) { best = min(best, level) }

func detect() Level {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return None
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL:
		return AVX512
	default:
		return AVX2
	}
}

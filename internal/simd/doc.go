// Package simd selects the vector instructions of this process. It decides once, at start, from the
// capabilities of the processor and the operating system; kernels dispatch on [Best]. [Limit]
// lowers the choice, for a process whose results must match those of other processes. The build tag
// noasm removes all assembly from the build. GODEBUG=cpu.avx512f=off and cpu.avx2=off, read by
// golang.org/x/sys/cpu, disable the instructions in a built program, so that tests can run every
// kernel on one machine.
package simd

// Level is a set of vector instructions for which kernels are written. Levels are ordered: a
// processor also runs the kernels of lower levels.
type Level uint8

const (
	// None is plain Go.
	None Level = iota
	// AVX2 is AVX2 with FMA: 8 numbers of float32 at a time.
	AVX2
	// AVX512 is AVX-512 F, DQ, BW and VL: 16 numbers at a time.
	AVX512
)

// String returns the name of the level, as used in benchmarks and messages.
func (l Level) String() string { return [...]string{"go", "avx2", "avx512"}[l] }

// Best returns the greatest level that this process may use.
func Best() Level { return best }

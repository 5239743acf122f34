// Package simd says which vector instructions this process may use. It decides once, at start, from what the processor
// and the operating system offer; kernels dispatch on [Best]. [Limit] takes instructions away again, for a process that
// has to compute as others do.
//
// The build tag noasm takes all assembly out of the build. GODEBUG=cpu.avx512f=off and cpu.avx2=off, read by
// golang.org/x/sys/cpu, disable the instructions in a built program, so that tests can run every kernel on one machine.
package simd

// Level is a set of vector instructions that a kernel is written for. Levels are ordered: a processor of one level
// runs the kernels of those below it.
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

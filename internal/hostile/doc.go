// Package hostile attacks decoders with mutants of valid messages, under a limit on memory and
// time.
//
// A [Suite] makes mutants and tries them. [Run], called from a test, feeds it the mutants of one
// seed in a separate process with a limited address space. Running out of memory, a panic, a fault
// of the runtime or a hang ends that process and not the test, which then names the mutant
// responsible. Mutant n of a seed depends only on these two numbers, so it can be replayed:
//
//	go test ./arrowio -run TestMutants -v -mutant.seed 1 -mutant.first 4711 -mutant.count 1
//
// [Message] is the usual source of mutants: bytes, marks where lengths, counts and offsets are, and
// the parts that can be repeated, dropped and spliced. [ArrowMessage] finds these in an Arrow IPC
// stream.
package hostile

// Package hostile attacks decoders with mutants of valid messages, under a limit on memory and on time.
//
// A [Suite] says how a mutant is made and what is done with it. [Run], called from a test, gives the mutants of one
// seed to it in a process of their own, whose address space is limited: running out of memory, a panic, a fault of the
// runtime and a hang end that process and not the test, which then names the mutant that did it. Mutant n of a
// seed depends on these two numbers alone, so it can be replayed:
//
//	go test ./arrowio -run TestMutants -v -mutant.seed 1 -mutant.first 4711 -mutant.count 1
//
// [Message] is what mutants of messages in general are made of: bytes, marks where lengths, counts and offsets stand,
// and the parts that can be repeated, dropped and spliced. [ArrowMessage] finds these in a stream of Arrow IPC.
package hostile

// Package fmapeak measures how many float32 operations per second one core can do at most, so that benchmarks can say
// how much of that their kernels reach in the same run, on the same machine, at the same clock.
package fmapeak

//go:generate go run -C ../tools ./asm/fmapeak -out ../fmapeak/loop_amd64.s -stubs ../fmapeak/loop_amd64.go -pkg fmapeak

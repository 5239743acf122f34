// Package fmapeak measures the peak rate of float32 operations of one core, so that benchmarks can
// report the share that their kernels reach, in the same run, on the same machine, at the same
// clock rate.
package fmapeak

//go:generate go run -C ../tools ./asm/fmapeak -out ../fmapeak/loop_amd64.s -stubs ../fmapeak/loop_amd64.go -pkg fmapeak

//go:build !noasm

package simd

// NoAsm means that the build leaves out all assembly, that of libraries included.
const NoAsm = false

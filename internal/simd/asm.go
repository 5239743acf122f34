//go:build !noasm

package simd

// NoAsm means that the build excludes all assembly, including that of libraries.
const NoAsm = false

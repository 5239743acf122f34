//go:build !amd64 || noasm

package simd

const best = None

// Limit does nothing: the only level is the lowest.
func Limit(Level) {}

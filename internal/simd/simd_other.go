//go:build !amd64 || noasm

package simd

const best = None

// Limit makes [Best] return no more than a level: it is the least already.
func Limit(Level) {}

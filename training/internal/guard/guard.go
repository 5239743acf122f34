// Package guard surrounds numbers that assembly reads and writes with others, so that a stray write shows. Only tests use it.
package guard

import "testing"

// Value is what surrounds numbers.
const Value = 12345

const margin = 64

// Slice returns n numbers drawn by next, and these with what surrounds them.
func Slice[T float32 | float64](n int, next func() T) (values, whole []T) {
	whole = make([]T, n+2*margin)
	for i := range whole {
		whole[i] = Value
	}
	values = whole[margin : margin+n : margin+n]
	for i := range values {
		values[i] = next()
	}
	return values, whole
}

// Require fails if what surrounds numbers has changed.
func Require[T float32 | float64](t testing.TB, whole []T) {
	t.Helper()
	for i, v := range whole {
		if (i < margin || i >= len(whole)-margin) && v != Value {
			t.Fatalf("value %d, outside the slice, was overwritten", i-margin)
		}
	}
}

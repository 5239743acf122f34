// Package guard surrounds the memory of assembly with known numbers, so that tests detect stray
// writes. Only tests use it.
package guard

import "testing"

// Value is the surrounding number.
const Value = 12345

const margin = 64

// Slice returns n numbers drawn by next, alone and with their surroundings.
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

// Require fails if the surroundings of a slice have changed.
func Require[T float32 | float64](t testing.TB, whole []T) {
	t.Helper()
	for i, v := range whole {
		if (i < margin || i >= len(whole)-margin) && v != Value {
			t.Fatalf("value %d, outside the slice, was overwritten", i-margin)
		}
	}
}

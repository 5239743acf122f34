package arrowio

import "unsafe"

// Budget counts down the memory that one message may still take. Nothing is ever released, so it
// bounds the bytes written as well as the live bytes. Decoders take memory whose size a message
// decides from [Make] and [Grow] alone, which charge it first; internal/architecture.md lists their
// other allocations.
type Budget struct{ Total, Left int64 }

// NewBudget returns a budget of total bytes.
func NewBudget(total int64) Budget { return Budget{total, total} }

// Take charges n bytes.
func (b *Budget) Take(n int64) error {
	if n > b.Left {
		return overBudget("%d bytes wanted, %d of %d left", n, b.Left, b.Total)
	}
	b.Left -= n
	return nil
}

// Make returns n zeros, charged.
func Make[T any](b *Budget, n int64) ([]T, error) {
	if err := takeMany[T](b, n); err != nil {
		return nil, err
	}
	return make([]T, n), nil
}

// takeMany charges n values.
func takeMany[T any](b *Budget, n int64) error {
	var one T
	size := int64(unsafe.Sizeof(one))
	if size > 0 && n > b.Left/size {
		return overBudget("%d values of %d bytes wanted, %d bytes of %d left", n, size, b.Left, b.Total)
	}
	return b.Take(n * size)
}

// leastRoom is the initial size of a growing slice.
const leastRoom = 16

// Room is the number of elements of a growing slice that have been charged since it was empty.
type Room int

// Grow returns s with room for n more elements, doubling its capacity. It charges as if the slice
// had started empty, even if there is scratch from an earlier message, because the result for a
// message must depend on that message alone. Room is charged once, even if it is not used in the
// end.
func Grow[T any](b *Budget, charged *Room, s []T, n int) ([]T, error) {
	need := len(s) + n
	for int(*charged) < need {
		next := max(leastRoom, 2**charged)
		if err := takeMany[T](b, int64(next)); err != nil {
			return s, err
		}
		*charged = next
	}
	if need > cap(s) {
		grown := make([]T, len(s), *charged)
		copy(grown, s)
		s = grown
	}
	return s, nil
}

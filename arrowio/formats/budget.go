package formats

import "github.com/eerf-stream/eerf/arrowio"

// What Go objects cost, charged in addition to the bytes that they describe. Measured on 64-bit Go and
// rounded up.
const (
	columnCost = 512 // a column of the table: its name's entry, its cells' header
	arrayCost  = 768 // an array with its buffers
	recordCost = 1024
)

// leastRoom is the initial size of a growing slice.
const leastRoom = 16

// room is how many elements of a growing slice have been charged for since it was empty.
type room int

// grow returns s with room for n more elements, doubling its capacity. It charges as if the slice had started empty,
// even if there is scratch from an earlier message, because the result for a message must depend on that message alone.
// Room is charged once, even if it is not used in the end.
func grow[T any](b *arrowio.Budget, charged *room, s []T, n int, size int64) ([]T, error) {
	need := len(s) + n
	for int(*charged) < need {
		next := max(leastRoom, 2**charged)
		if err := b.Take(int64(next) * size); err != nil {
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

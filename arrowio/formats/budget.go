package formats

import "github.com/eerf-stream/eerf/arrowio"

// What Go objects cost, charged beside the bytes that they describe. Measured on 64-bit Go and rounded up.
const (
	columnCost = 512 // a column of the table: its name's entry, its cells' header
	arrayCost  = 768 // an array with its buffers
	recordCost = 1024
)

// budget counts down the memory that one message may still take. Nothing is handed back.
type budget struct{ total, left int64 }

func (b *budget) take(n int64) error {
	if n > b.left {
		return wrap(arrowio.ErrBudget, "%d bytes wanted, %d of %d left", n, b.left, b.total)
	}
	b.left -= n
	return nil
}

// leastRoom is what a growing slice begins with.
const leastRoom = 16

// room is how many elements a slice that grows has been charged for since it was empty.
type room int

// grow returns s with room for n more, doubling. What a slice that began empty would take by now is charged, whether or not
// scratch of an earlier message is there: the outcome for a message is to depend on the message alone. It is charged once, also
// where what there was to be room for did not come.
func grow[T any](b *budget, charged *room, s []T, n int, size int64) ([]T, error) {
	need := len(s) + n
	for int(*charged) < need {
		next := max(leastRoom, 2**charged)
		if err := b.take(int64(next) * size); err != nil {
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

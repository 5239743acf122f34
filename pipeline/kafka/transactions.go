package kafka

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// abortedTransaction hides the records of a producer from first up to its abort marker.
type abortedTransaction struct {
	producer, first int64
}

// transactions hides uncommitted records. It looks at the batches of one fetch in order.
type transactions struct {
	pending []abortedTransaction // not yet begun, by first offset
	aborted map[int64]bool       // producers whose aborted transaction has begun
}

func newTransactions(list []abortedTransaction) *transactions {
	pending := slices.Clone(list)
	slices.SortFunc(pending, func(a, b abortedTransaction) int { return cmp.Compare(a.first, b.first) })
	return &transactions{pending: pending, aborted: make(map[int64]bool)}
}

// hides reports whether the batch's records must not be returned. Control batches consume the list
// too: the data of a transaction may come before the fetch or be compacted away, but its marker
// still ends it.
func (t *transactions) hides(b *batch) bool {
	for len(t.pending) > 0 && t.pending[0].first <= b.last {
		t.aborted[t.pending[0].producer] = true
		t.pending = t.pending[1:]
	}
	if b.isControl() {
		if isAbortMarker(b.body) {
			delete(t.aborted, b.producer)
		}
		return true
	}
	return b.isTransactional() && t.aborted[b.producer]
}

// isAbortMarker inspects a control batch, which is never compressed; its key is a version and a
// type, two bytes each, and type 0 is abort. A batch emptied by compaction is not a marker.
func isAbortMarker(body []byte) bool {
	r := cursor{left: body}
	r.varint() // length
	r.bytes(1) // attributes
	r.varint() // time
	r.varint() // offset
	key := r.bytes(r.varint())
	return !r.bad && len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == 0
}

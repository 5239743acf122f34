package kafka

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// abortedTransaction is one whose records from first up to its abort marker do not count.
type abortedTransaction struct {
	producer, first int64
}

// transactions hides what readers of committed records must not see. It looks at the batches of one fetch in order.
type transactions struct {
	pending []abortedTransaction // not yet begun, by first offset
	aborted map[int64]bool       // producers with a begun one
}

func newTransactions(list []abortedTransaction) *transactions {
	pending := slices.Clone(list)
	slices.SortFunc(pending, func(a, b abortedTransaction) int { return cmp.Compare(a.first, b.first) })
	return &transactions{pending: pending, aborted: make(map[int64]bool)}
}

// hides reports whether the batch's records must not be returned. Control batches consume the list too: the data of a
// transaction may come before the fetch or be compacted away, but its marker still ends it.
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

// isAbortMarker looks into a control batch, which is never compressed; its key is a version and a type,
// two bytes each, and type 0 is abort. One emptied by compaction is no marker.
func isAbortMarker(body []byte) bool {
	r := cursor{left: body}
	r.varint() // length
	r.bytes(1) // attributes
	r.varint() // time
	r.varint() // offset
	key := r.bytes(r.varint())
	return !r.bad && len(key) >= 4 && binary.BigEndian.Uint16(key[2:]) == 0
}

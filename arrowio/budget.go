package arrowio

// What Go objects cost, charged beside the bytes of buffers so that a message
// of many tiny arrays cannot take many times its size in headers. Measured on
// 64-bit Go and rounded up.
const (
	fieldCost  = 512 // one field of a schema: its type, its name's entry, its plan
	arrayCost  = 512 // one array: data, buffers, the typed view
	recordCost = 512 // one record batch, beside its arrays
)

// budget counts down the memory that one Decode may still take. Nothing is ever
// credited back, so it bounds the bytes written as well as the bytes held.
type budget struct{ total, left int64 }

// take charges n bytes.
func (b *budget) take(n int64) error {
	if n > b.left {
		return overBudget("%d bytes wanted, %d of %d left", n, b.left, b.total)
	}
	b.left -= n
	return nil
}

package formats

// What Go objects cost, charged in addition to the bytes that they describe. Measured on 64-bit Go and
// rounded up.
const (
	columnCost = 512 // a column of the table: its name's entry, its cells' header
	arrayCost  = 768 // an array with its buffers
	recordCost = 1024
)

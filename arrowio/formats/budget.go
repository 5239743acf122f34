package formats

// Costs of Go objects, charged in addition to the bytes that they describe. Measured on 64-bit Go
// and rounded up.
const (
	columnCost = 512 // a column of the table: entry of its name, header of its cells
	arrayCost  = 768 // an array with its buffers
	recordCost = 1024
)

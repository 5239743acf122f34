package arrowio

import (
	"errors"
	"fmt"
)

// Limits bound the claims of one message. They decide which messages count, so they are part of
// the meaning of an exploration and travel with its spec. Zero means the default.
type Limits struct {
	// MaxMessageBytes is the size of the largest message that is read.
	MaxMessageBytes int64 `json:"max_message_bytes"`
	// BudgetBytes bounds the memory that one Decode allocates in addition to the message:
	// decompressed bodies, merged dictionaries, array headers.
	BudgetBytes int64 `json:"budget_bytes"`
	// MaxRows is the maximum number of rows in all batches of one message, and of entries in one
	// dictionary.
	MaxRows int `json:"max_rows"`
	// MaxColumns is the maximum number of columns in a schema, including the children of nested
	// columns.
	MaxColumns int `json:"max_columns"`
}

// DefaultLimits returns 8 MiB messages, a budget of 64 MiB, 1,048,576 rows and
// 4,096 columns.
func DefaultLimits() Limits {
	return Limits{
		MaxMessageBytes: 8 << 20,
		BudgetBytes:     64 << 20,
		MaxRows:         1 << 20,
		MaxColumns:      4096,
	}
}

// Validate reports every limit that is negative.
func (l Limits) Validate() error {
	var faults []error
	check := func(name string, v int64) {
		if v < 0 {
			faults = append(faults, fmt.Errorf("%s is %d, must not be negative (0 means the default)", name, v))
		}
	}
	check("max_message_bytes", l.MaxMessageBytes)
	check("budget_bytes", l.BudgetBytes)
	check("max_rows", int64(l.MaxRows))
	check("max_columns", int64(l.MaxColumns))
	return errors.Join(faults...)
}

// orDefault replaces zeros by defaults.
func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	if l.MaxMessageBytes == 0 {
		l.MaxMessageBytes = d.MaxMessageBytes
	}
	if l.BudgetBytes == 0 {
		l.BudgetBytes = d.BudgetBytes
	}
	if l.MaxRows == 0 {
		l.MaxRows = d.MaxRows
	}
	if l.MaxColumns == 0 {
		l.MaxColumns = d.MaxColumns
	}
	return l
}

// Costs of Go objects, charged in addition to the bytes of buffers, so that a message of many tiny
// arrays cannot take many times its size in headers. Measured on 64-bit Go and rounded up.
const (
	fieldCost  = 512 // one field of a schema: its type, its name's entry, its plan
	arrayCost  = 512 // one array: data, buffers, the typed view
	recordCost = 512 // one record batch, without its arrays
)

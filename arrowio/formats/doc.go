// Package formats reads events in JSON, Avro and Protobuf, with or without a schema registry, into
// Arrow records.
//
// A [Decoder] reads one configured format, or detects it from the first bytes ([Auto]). Arrow
// messages go to [arrowio.Decoder]. For the other formats, one pass over the message fills a table
// of cells, which then becomes one record of flat columns:
//
//	nested objects, records, messages   a column for each leaf, named a.b.c
//	arrays of numbers                   a fixed-size list of float64, if all rows have the same length
//	other arrays, maps, unions of types left out: a column of nulls
//
// Schemas come from a [Registry], or from [Options.Schema]. Avro and Protobuf are read by a plan,
// which is compiled once per schema for all decoders that share [Options.Plans]. Libraries parse
// the schemas; this package reads the messages.
//
// # Guards
//
// Messages are untrusted, as with Arrow. Memory is charged against [arrowio.Limits.BudgetBytes]
// before it is allocated, by amounts that depend only on the message. Rows, columns and depth
// ([MaxDepth]) are bounded. A refusal wraps one sentinel, named by [Reason]. No input panics. The
// result for a message does not depend on earlier messages.
//
// Schemas are untrusted too. Before a library parses a schema, a pass over its tokens bounds
// nesting, names and their total length, and drops members that no plan needs. [Plans] caches
// compiled and refused schemas, within a number of bytes.
//
// # Memory
//
// Records own their memory and may outlive the message, except with [Options.EncodeOnly]. Scratch
// memory is reused, so a Decoder belongs to one goroutine.
package formats

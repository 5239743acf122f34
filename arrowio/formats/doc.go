// Package formats reads events in JSON, Avro and Protobuf, with or without a Schema Registry, into the Arrow records
// that the rest of the project works on. It also writes records in these formats.
//
// A [Decoder] is told the format of messages or detects it from the first bytes ([Auto]). Arrow is passed to
// [arrowio.Decoder]. The other formats are read here: one pass over the message fills a table of cells, which then
// becomes one record of flat columns:
//
//	nested objects, records, messages   a column for each leaf, named a.b.c
//	arrays of numbers                   a fixed-size list of float64, where all rows have the same length
//	other arrays, maps, unions of types left out: a column of nulls
//
// Schemas come from a [Registry], or from [Options.Schema]. Avro and Protobuf are read by a plan that is compiled once
// per schema, for all decoders that share [Options.Plans]. Libraries parse the schemas, never the messages.
//
// # Guards
//
// As with Arrow, nothing in a message is trusted. Memory is charged against [arrowio.Limits.BudgetBytes] before it is
// allocated, by amounts that depend only on the message. Rows, columns and depth ([MaxDepth]) are bounded. A refusal
// wraps one sentinel, named by [Reason]. No input panics. The result for a message does not depend on earlier messages.
//
// Schemas are input too. Before a library parses one, a pass over its tokens bounds nesting, names, and what they amount
// to together, and drops what no plan needs. Compiled and refused ones are kept in [Plans], within a number of bytes.
//
// # Memory
//
// Records own their memory and may outlive the message, except those that are only encoded ([Options.EncodeOnly]).
// Scratch memory is reused, so a Decoder belongs to one goroutine.
package formats

// Package formats reads events that are not Arrow: JSON, Avro and Protobuf, with or without a Schema Registry, into the
// Arrow records that the rest of the project works on; and writes records in each of these formats.
//
// A [Decoder] tells the format of a message by its first bytes ([Auto]) or is told it. Arrow goes to [arrowio.Decoder], as it
// is. The other formats are read here, by one walk over the message into a table of cells, which then becomes one record of
// flat columns:
//
//	nested objects, records, messages   a column for each leaf, named a.b.c
//	arrays of numbers                   a fixed-size list of float64, where all rows have the same length
//	other arrays, maps, unions of types left out: a column of nulls
//
// Schemas come from a [Registry], or from [Options.Schema]. The walks over Avro and Protobuf follow a plan that is made once of
// a schema; libraries parse the schemas, never the message.
//
// # Guards
//
// As for Arrow: nothing in a message is believed. Memory is charged against [arrowio.Limits.BudgetBytes] before it is taken,
// by amounts that depend on the message alone; rows, columns and depth ([MaxDepth]) are bounded; a refusal wraps one sentinel,
// named by [Reason]; no input panics. What comes of a message does not depend on those before it, but for a Decoder that is
// learning ([Options.Learning]).
//
// # Memory
//
// Records have memory of their own and may outlive the message. Scratch is used again, so a Decoder belongs to one goroutine.
package formats

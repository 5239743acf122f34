// Package arrowio turns untrusted bytes into Arrow records that are safe to
// read, and records into bytes.
//
// One message is one Arrow IPC stream: a schema, its dictionaries, and any
// number of record batches. Nothing in such a message is believed. The stream
// is walked in the byte slice it arrived in, every claimed length is compared
// with what is left, every flatbuffer is read through bounds checks, and every
// buffer is checked against the type that will read it, before an Arrow array
// is made. What [Decoder.Decode] returns has been validated so far that
// touching any value of it cannot panic; what it refuses comes back as an error
// whose [Reason] is a short stable word, and never as a crash, an endless loop
// or an allocation beyond the budget.
//
// # Memory
//
// Uncompressed buffers are not copied: the records point into the message, so
// the caller must leave the message's bytes alone until the records are
// released. Memory is taken only for decompressed buffers, for string views
// (delivered as plain strings), for dictionaries grown by deltas, for buffers
// that are not aligned to their type, and for the Go objects that describe
// arrays. All of it but the alignment copies, which cannot exceed the message's
// own size, is charged against [Limits.BudgetBytes], by amounts that depend on
// the message alone; nothing is handed back within one call, so the budget
// bounds the work as well. Compressed bodies need in addition less
// than 1 MiB of codec tables per Decoder.
//
// The buffers of one batch may not claim more bytes together than its body
// has. A message therefore describes at most as many values as its bytes (or,
// compressed, its budget) can hold: 8 per byte for booleans, fewer for every
// other type. Nulls of the null type and structs without children have no bytes
// in the body; eight of them take a byte of the budget. Dictionary values are shared by the rows that name them: look at
// them once per dictionary entry, not once per row.
//
// # Types
//
// Null, booleans, all integers and floats, decimals, dates, times, timestamps,
// durations, intervals, utf8, binary and fixed-size binary of every offset
// width, string and binary views, lists, fixed-size lists, structs, maps, and
// dictionaries of flat values. Extension types arrive as their storage type
// with the extension's name kept in the field's metadata. Unions, run-end
// encoding, list views and foreign byte order are refused with
// [ErrUnsupported].
package arrowio

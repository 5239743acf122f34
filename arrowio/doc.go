// Package arrowio turns untrusted bytes into Arrow records that are safe to read, and records into
// bytes.
//
// One message is one Arrow IPC stream: a schema, its dictionaries, and any number of record
// batches. Nothing in it is trusted. The stream is read in the byte slice it arrived in. Before an
// Arrow array is made, every claimed length is compared with the remaining bytes, every flatbuffer
// is read through bounds checks, and every buffer is checked against its type. Reading any value
// that [Decoder.Decode] returns cannot panic. A refused message gives an error whose [Reason] is a
// short stable word, never a crash, an endless loop or an allocation beyond the budget.
//
// # Memory
//
// Uncompressed buffers are not copied: the records point into the message, so the caller must not
// change the message's bytes until the records are released. Memory is allocated only for
// decompressed buffers, string views (returned as plain strings), buffers that are not aligned to
// their type, and the Go objects that describe arrays. All of it except the alignment copies, which
// cannot exceed the message's own size, is charged against [Limits.BudgetBytes], by amounts that
// depend on the message alone. Nothing is given back within one call, so the budget bounds the work
// as well. Compressed bodies also need less than 1 MiB of codec tables per Decoder.
//
// The buffers of one batch together may not claim more bytes than its body has. A message therefore
// describes at most as many values as its bytes (or, if compressed, its budget) can hold: 8 per
// byte for booleans, fewer for every other type. Nulls of the null type and structs without
// children have no bytes in the body; eight of them cost a byte of the budget. Dictionary values
// are shared by the rows that refer to them: check them once per dictionary entry, not once per
// row.
//
// # Types
//
// Null, booleans, all integers and floats, decimals, dates, times, timestamps, durations,
// intervals, utf8, binary and fixed-size binary of every offset width, string and binary views,
// lists, fixed-size lists, structs, maps, and dictionaries of flat values. Extension types arrive
// as their storage type, with the extension's name kept in the field's metadata. Unions, run-end
// encoding, list views, deltas of dictionaries and foreign byte order are refused with
// [ErrUnsupported].
package arrowio

// Package wire puts everything that the pipeline publishes on topics into Arrow IPC streams and
// reads it back: specs and requests, checkpoints, feature sets, models, feature batches, dead letters.
//
// A message is one Arrow IPC stream with one schema and one record batch. What a message has one of
// (ids, offsets, settings, lineage) is a JSON document in the schema metadata, under a key that names
// the message ([KeySpec], [KeyCheckpoint], …); what it has one of per partition, candidate, feature or
// row is a column. Any Arrow reader gets at all of it without this package; docs/wire-formats.md is the
// reference for such readers.
//
// Encoding is a pure function of the value: equal values give equal bytes, on any machine. Feature sets
// and models are named by a SHA-256 of what they compute ([FeatureSet.ID], [ModelID]); lineage and times
// travel beside that, unhashed.
//
// Decoding takes bytes that anybody may have written. The frame, the schema and the arrays pass the
// guarded [arrowio.Decoder] first; here every column's kind, length and nulls, every number and every
// id is checked before a value is returned, and the value owns its memory: it never aliases the message.
// The one exception is [DecodeFeatures], whose slices alias the record it was given.
//
// Functions here keep no state; they may be called from several goroutines as long as each uses its own
// Decoder.
package wire

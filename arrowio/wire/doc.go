// Package wire encodes everything that the pipeline publishes on topics as Arrow IPC streams, and
// decodes it: specs and requests, checkpoints, feature sets, models, feature batches, dead letters.
//
// A message is one Arrow IPC stream with one schema and one record batch. What occurs once per
// message (IDs, offsets, settings, lineage) is a JSON document in the schema metadata, under a key
// that names the message ([KeySpec], [KeyCheckpoint], …). What occurs per partition, candidate,
// feature or row is a column. Any Arrow reader can use a message without this package;
// docs/wire-formats.md is the reference for such readers.
//
// Encoding is a pure function of the value: equal values give equal bytes, on any machine. Feature
// sets and models are named by a SHA-256 of what they compute ([FeatureSet.ID], [ModelID]). Lineage
// and times are stored with it and not hashed.
//
// Decoding accepts bytes from anybody. The frame, the schema and the arrays first pass the guarded
// [arrowio.Decoder]. Then the kind, length and nulls of every column, every number and every ID are
// checked before a value is returned. The value owns its memory and never aliases the message. The
// one exception is [DecodeFeatures], whose slices alias the record it was given.
//
// Functions here keep no state. They are safe for concurrent use as long as each goroutine uses its
// own Decoder.
package wire

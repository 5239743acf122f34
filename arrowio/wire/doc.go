// Package wire encodes and decodes everything that the pipeline publishes on topics.
//
// Control documents (specs, requests, progress, refusals, pointers, live blocks) are JSON objects
// that begin with their name and version. Data (checkpoints, samples, feature sets, models,
// features, rejected rows) are Arrow IPC streams with one schema and one record batch: values that
// occur once per message are a JSON document in the schema metadata, under a key that names the
// message ([KeyCheckpoint], …); values per candidate, feature or row are columns. Any JSON or Arrow
// reader can use a message without this package; docs/wire-formats.md is the reference for such
// readers.
//
// Encoding is a pure function of the value: equal values give equal bytes, on any machine. Feature
// sets and models are named by a SHA-256 of their mathematics ([FeatureSet.ID], [ModelID]). Lineage
// and times are stored with it and not hashed.
//
// Decoding accepts bytes from any source. Documents are checked against the bounds of their fields
// ([outside.Shape]) before they are parsed. The frame, the schema and the arrays of a stream first
// pass the guarded [arrowio.Decoder]. Then the kind, length and nulls of every column, every number
// and every ID are checked before a value is returned. The value owns its memory and never aliases
// the message. The one exception is [DecodeFeatures], whose slices alias the record it was given.
//
// Functions here keep no state. They are safe for concurrent use as long as each goroutine uses its
// own Decoder.
package wire

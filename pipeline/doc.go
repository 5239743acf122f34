// Package pipeline is the moving part under the stages: what a record of a log is, how a log is read and
// written, who owns a partition, and how a partition's records reach the one goroutine that handles them.
// It knows neither mathematics nor Arrow; values are bytes.
//
// Nouns:
//
//   - a Record is one message of one topic partition, with its offset;
//   - a Log reads and appends records by offset ([Log]), an Owner hands out partitions ([Owner]), an Admin
//     makes topics ([Admin]); package pipeline/kafka implements the three on kafka-go, and
//     package pipeline/embedded starts an in-process broker for it;
//   - a Processor handles the records of one partition, in offset order, from one goroutine ([RunPartition]);
//   - following a partition is reading it from its first offset, for ever ([Follow]) or to its present end
//     ([ReadAll]): how state is restored from a compacted topic.
//
// Offsets say next or last: a next offset is the first one not yet read or written, and every offset in
// this package that is not an Offset of a Record is a next offset.
//
// Memory: a Fetched and its records belong to the caller. Record values may alias one fetch buffer; a stage
// that keeps bytes past the handling of a record copies them. Of a partition that is run, the next fetch is under
// way while one is handled. Records that are produced are read until Produce returns, see [Log].
//
// Concurrency: a Log, an Owner and an Admin are safe from several goroutines. A Processor is used by one
// goroutine at a time.
package pipeline

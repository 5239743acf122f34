// Package pipeline is what the stages run on: what a record of a log is, how a log is read and written, who owns a
// partition, and how a partition's records reach the one goroutine that handles them. It knows neither mathematics nor
// Arrow; values are bytes.
//
// Nouns:
//
//   - a Record is one message of one topic partition, with its offset;
//   - a [Broker] reads records by offset ([Log]), writes them ([Sink]), assigns partitions, and creates and describes
//     topics ([Control]). Package pipeline/kafka implements it with kafka-go, package pipeline/embedded starts an
//     in-process broker, and package pipeline/conformance is the test suite for any implementation;
//   - a Reader reads a partition from an offset to an end or for ever ([Reader]). It is the only way to read a topic. A
//     Gap is what it cannot read, because retention removed it, the log was truncated, or a batch is unreadable
//     ([Gap]); [GapKind] says where reading then continues;
//   - state is restored from a compacted topic by reading a partition from its first offset, to its present end
//     ([ReadAll]) or for ever;
//   - a Processor handles the records of one partition, in offset order, from one goroutine ([RunPartition]).
//
// Offsets say next, end or last. A next offset is the first one not yet read or written. An end is the next offset up
// to which a partition can be read now: no record of an open transaction comes before it.
//
// Memory: records that a Reader returns are valid until it is asked for the next ones. Record values may alias one
// fetch buffer; a stage that keeps bytes longer copies them. A reader that fetches ahead holds at most two fetches. A
// Log may bound what all its fetches take until they are released, so a goroutine that holds records may ask the same
// Log for others only with a context of [ForState]. Records being produced are read until Produce returns, see [Producer].
//
// Concurrency: a Broker is safe for concurrent use. A Reader and a Processor are used by one goroutine at a time.
package pipeline

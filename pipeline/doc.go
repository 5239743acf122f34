// Package pipeline defines how the stages use a broker: the records of a log, how they are read and
// written, the ownership of partitions, and the goroutine that handles the records of a partition.
// It knows neither mathematics nor Arrow; values are bytes.
//
// Nouns:
//
//   - a Record is one message of one topic partition, with its offset;
//   - a [Broker] reads records by offset ([Log]), writes them ([Sink]), assigns partitions, and creates and describes
//     topics ([Control]). Package pipeline/kafka implements it with kafka-go, package pipeline/embedded starts an
//     in-process broker, and package pipeline/conformance is the test suite for any implementation;
//   - a [Reader] reads a partition from an offset to an end or for ever. It is the only way to read a topic. A [Gap] is
//     a range of offsets that it cannot read, because retention removed them, the log was truncated, or a batch is
//     unreadable; its [GapKind] decides where reading continues;
//   - state is restored from a compacted topic by reading a partition from its first offset, to its current end
//     ([ReadAll]) or for ever;
//   - a Processor handles the records of one partition, in offset order, from one goroutine ([RunPartition]).
//
// Offsets are named next, end or last. A next offset is the first one not yet read or written. An
// end is the next offset up to which a partition can be read now: no record of an open transaction
// comes before it.
//
// Memory: records that a Reader returns are valid until its next call. Record values may alias one
// fetch buffer; a stage that keeps bytes longer copies them. A reader that fetches ahead holds at
// most two fetches. A Log may limit the memory of all fetches that are not yet released, so a
// goroutine that holds records may fetch others from the same Log only with a context of
// [ForState]. Produce reads its records until it returns, see [Producer].
//
// Concurrency: a Broker is safe for concurrent use. A Reader and a Processor are used by one
// goroutine at a time.
package pipeline

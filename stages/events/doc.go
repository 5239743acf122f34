// Package events reads and writes the messages of the events topic.
//
// A message is an Arrow stream of record batches. A [Reader] decodes it within [Limits] and refuses
// messages that do not fit the encoder of a feature set. The encoder takes a batch chunk by chunk
// ([EachChunk]). A [Producer] writes rows. [TakeRows] and [WithoutColumns] select rows and columns
// of a batch.
//
// Memory: the caller releases record batches before it reads the next message, because they may
// point into memory that the Reader reuses. With [Slots], a message is worked on in the memory of a
// slot; a process has a few of them, regardless of its number of partitions. A Reader holds its
// slot from Begin to End. Meanwhile it may wait only for a broker, or for memory that a broker's
// answer frees: never for a fetch, another message or a registry.
//
// Concurrency: a Reader and a Producer belong to one goroutine each; Slots are safe for concurrent
// use.
package events

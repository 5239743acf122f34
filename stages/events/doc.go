// Package events reads and writes the messages of the events topic.
//
// A message is an Arrow stream of record batches. A [Reader] decodes it within [Limits] and refuses what does not go with
// the encoder of a feature set; a [RowEncoder] makes rows of numbers of a batch, chunk by chunk ([EachChunk]), as a bank
// or a transformer takes them; a [Producer] writes rows. [TakeRows] and its neighbours cut rows and columns out of a
// batch.
//
// Memory: record batches are released by who called for them, before the next message is read: they may point into
// memory that a Reader uses again. Concurrency: a Reader and a Producer belong to one goroutine each.
package events

// Package featurize maps events to the features of the current set and, if wanted, adds the
// predictions of the current model.
//
// Nouns:
//
//   - a preparedSet (set.go) is everything that mapping derives from a feature set. A change of set is one new value,
//     shared by all partitions;
//   - a [Featurizer] maps messages with one prepared set, without a broker. It cuts them by set, message and output size
//     alone, so that a replay cuts the same way;
//   - a [Part] is the outcome of some rows of a message: an output message, a dead letter of its rejected rows, counts;
//   - a request is the parts that are sent together, dead letters first. Each partition has one in progress while it
//     makes the next one;
//   - the position is the offset and row after the last output. A new owner reads it from the end of the features topic,
//     so that every row of an event is in the output once, no matter which process dies at which moment;
//   - [FileMapper] does for the rows of a file what a Featurizer does for messages.
//
// Memory: outputs are made in place, and later outputs reuse the memory of acknowledged ones. A
// partition holds the outputs and dead letters of two requests, never a whole message of many rows.
// The outputs of all partitions stay within Config.OutputMemory; package stages documents the order
// in which memory is taken. The records of a fetch are released when its last request starts with
// copies of them, or when that request is done. A message whose outputs wait for the broker
// releases its slot, and is later reread from its first unmapped row.
//
// Concurrency: a [Runner] runs one goroutine for each partition that it owns, one for each request
// in progress, one that requests explorations for new classes, and one that loads models. A request
// and its contents belong to its goroutine until it returns the result, which the partition
// applies. Prepared sets and models are immutable and shared. A Featurizer belongs to one
// goroutine.
package featurize

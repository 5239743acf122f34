// Package featurize maps events to the features of the set in use and, if asked to, attaches the predictions of the
// model in use.
//
// Nouns:
//
//   - a [Featurizer] maps messages with one feature set, without a broker. How it cuts them depends only on set,
//     message and output size, so that a replay cuts the same way;
//   - a [Part] is the outcome of some rows of a message: an output message, a dead letter of its rejected rows, counts;
//   - a request is the parts that are sent together, dead letters first. Each partition has one in progress while it
//     makes the next one;
//   - the position is the offset and row after the last output. A new owner reads it from the end of the features topic
//     itself, so that every row of an event is in the output once, whichever process dies and when;
//   - [TransformRows] does for the rows of a file what a Featurizer does for messages.
//
// Memory: outputs are made in place, and later outputs reuse the memory of acknowledged ones. A partition holds the
// outputs and dead letters of two requests, never a whole message of many rows. The outputs of all partitions stay
// within Config.OutputMemory; package stages documents the order in which memory is taken. The records of a fetch are
// given back when its last request starts, which copies what it needs of them, or when that request is done. A message
// whose outputs wait for the broker gives back its slot, and is later read again from where it was left. A set is
// packed once for all partitions that use it.
//
// Concurrency: a [Runner] runs one goroutine for each partition that it owns, one for each request in progress, and one
// that loads models if predictions are wanted. A request and all it holds belong to its goroutine until that returns
// the result, which the partition applies. Models are immutable and shared. A Featurizer belongs to one goroutine.
package featurize

// Package featurize maps events to the features of the set in use and, where it is asked to, attaches what the model in use
// predicts from them.
//
// Nouns:
//
//   - a [Featurizer] maps messages with one feature set, without a broker: how it cuts them depends on set, message and
//     output size alone, so that a replay cuts the same way;
//   - a [Part] is what became of some rows of a message: an output message, a dead letter of its rejected rows, counts;
//   - a request is the parts that are sent together, the dead letters first: one is under way for each partition while the
//     next is made;
//   - the position is offset and row behind the last output, which a new owner reads from the end of the features
//     themselves: every row of an event is in the output once, whoever dies when;
//   - [TransformRows] does for the rows of a file what a Featurizer does for messages.
//
// Memory: outputs are made in place; those of an acknowledged request are written over by later ones. A partition holds the
// outputs and dead letters of two requests, and a message of many rows is never held as a whole.
//
// Concurrency: a [Runner] runs one goroutine for each partition that it owns, one for each request under way, and one that
// loads models where predictions are asked for. A request and all it holds belong to its goroutine until that hands back the
// result; the partition applies it. Models are immutable and shared. A Featurizer belongs to one goroutine.
package featurize

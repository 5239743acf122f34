// Package serve answers requests about rows, single or in batches, with what the features topic would hold for them. It follows the feature
// set and the model in use.
//
// Nouns:
//
//   - a pair ([featurize.Pair]) is a feature set and a model trained on it; [Pairs] holds the one being served. Both change
//     together, between requests. A new set has to wait until a model is trained on it, and [Pairs.Waiting] says so;
//   - a [Desk] holds the places at which requests are worked on, each with its own decoders and scratch, and the memory that
//     all requests of the process share;
//   - a [Turn] is one request at a place. It uses one pair from its first row to its last.
//
// A row takes the same path as in the stages: the decoder of events ([events.Reader]) with its limits, the encoder, the kernels and the
// predictions of [featurize.Mapper].
//
// Memory: a request's body is charged to [Config.Memory] before it is read, and its answer before it is computed. Decoding has the budget
// of a message; that and scratch belong to the places. Concurrency: Pairs and Desk are safe for concurrent use. A Turn belongs to one
// goroutine.
package serve

// Package serve answers requests about rows, single or in batches, with what the features topic would hold for them. It follows the feature
// set and the model in use.
//
// Nouns:
//
//   - a pair ([featurize.Pair]) is a feature set and a model trained on it; [Pairs] holds the one being served. Both change
//     together, between requests. A new set has to wait until a model is trained on it, and [Pairs.Waiting] says so;
//   - a [Limiter] holds the slots in which requests are worked on, and bounds the memory that all requests of the process
//     share;
//   - a [Slot] works on one request at a time, with decoders and scratch of its own. A request uses one pair from its
//     first row to its last.
//
// A row takes the same path as in the stages: the decoder of events ([events.Reader]) with its limits, the encoder, the kernels and the
// predictions of [featurize.Mapper].
//
// Memory: a request's body is charged to [Config.Memory] as it arrives, and its answer before it is computed.
// Decoding has the budget of a message; that and scratch belong to the slots. Concurrency: Pairs and Limiter are safe for
// concurrent use. A Slot belongs to one goroutine.
package serve

// Package serve answers requests about rows, single or in batches, with the values that the
// features topic would hold for them. It follows the current feature set and model.
//
// Nouns:
//
//   - a pair ([featurize.Pair]) is a feature set and a model trained on it. [Pairs] holds the
//     served pair. Set and model change together, between requests. A new set waits until a model
//     is trained on it; [Pairs.Waiting] reports that;
//   - a [Limiter] holds the slots in which requests are processed, and bounds the memory that all
//     requests of the process share;
//   - a [Slot] processes one request at a time, with its own decoders and scratch memory. A
//     request uses one pair from its first row to its last.
//
// A row takes the same path as in the stages: the decoder of events ([events.Reader]) with its
// limits, the encoder, the kernels and the predictions of [featurize.Mapper].
//
// Memory: the body of a request is charged to [Config.Memory] as it arrives, and its answer before
// it is computed. The decoding budget and scratch memory belong to the slots. Concurrency: Pairs
// and Limiter are safe for concurrent use. A Slot belongs to one goroutine.
package serve

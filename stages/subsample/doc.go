// Package subsample makes the pass of an exploration over the rows of the log: of each partition that the process owns
// it adds the sampled rows to the score sums of all candidates and, for criteria that need rows, puts them on the topic
// samples.
//
// Nouns:
//
//   - a [Subsampler] is the pass over one range, without a broker: what it holds depends on the rows, their order and the
//     spec alone, not on how they came in messages;
//   - a checkpoint is its state on the topic scores; samples and dead letters that it counts are acknowledged before it
//     is written;
//   - an attempt is one reading of the range from its start; the selection may refuse its samples, and the next one begins;
//   - the last checkpoint of a closed partition is guarded: should an owner that lost the partition write an older one
//     behind it, which compaction would keep, it is written again; it is retired by a tombstone when the exploration is over.
//
// A [Runner] runs one goroutine for each partition that it owns. What a partition holds belongs to that goroutine; the bank
// of candidates is drawn once for all of them and read alone.
package subsample

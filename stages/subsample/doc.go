// Package subsample makes an exploration's pass over the rows of the log. For each partition that
// the process owns it adds the sampled rows to the score sums of all candidates and, for criteria
// that need rows, writes them to the topic samples.
//
// Nouns:
//
//   - a [Subsampler] is the pass over one range, without a broker: its state depends only on the
//     rows, their order and the spec, not on how the rows are split into messages;
//   - a checkpoint is its state on the topic scores; it is written only after the samples and dead
//     letters it counts are acknowledged;
//   - an attempt is one reading of the range from its start; if the selection refuses its samples,
//     the next attempt begins;
//   - the last checkpoint of a closed partition is guarded: a former owner may write an older one
//     after it, which compaction would keep, so the current owner rewrites its own. A tombstone
//     retires it when the exploration is over.
//
// A [Runner] runs one goroutine per owned partition, and that goroutine alone uses the partition's
// state. The bank of candidates is drawn once, and all partitions share it read-only.
package subsample

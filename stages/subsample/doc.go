// Package subsample makes an exploration's pass over the rows of the log. For each partition that the process owns it
// adds the sampled rows to the score sums of all candidates and, for criteria that need rows, writes them to the topic
// samples.
//
// Nouns:
//
//   - a [Subsampler] is the pass over one range, without a broker: its state depends on the rows, their order and the
//     spec only, not on how messages cut the rows;
//   - a checkpoint is its state on the topic scores; the samples and dead letters that it counts are acknowledged
//     before it is written;
//   - an attempt is one reading of the range from its start; if the selection refuses its samples, the next attempt
//     begins;
//   - the last checkpoint of a closed partition is guarded: if an owner that lost the partition writes an older one
//     after it, which compaction would keep, it is written again. A tombstone retires it when the exploration is over.
//
// A [Runner] runs one goroutine for each partition that it owns. The state of a partition belongs to that goroutine.
// The bank of candidates is drawn once for all of them and is only read.
package subsample

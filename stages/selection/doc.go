// Package selection chooses the features of an exploration: it merges the sums of its closed partitions, reads the
// sample if the criterion needs rows, makes all further rounds in memory, and publishes the feature set.
//
// Nouns:
//
//   - the sums are those of the checkpoints, merged in partition order ([Merge]);
//   - the sample is the rows that they count, read from the topic samples in partition order and compared with the
//     checkpoints; if the samples of a partition do not agree they are refused, and its owner reads it again;
//   - [Select] chooses from both: a function of spec, sums and sample, the same for a stream and for a file;
//   - the [Runner] is the stage: one instance selects at a time, the owner of the single partition of explorations.
//
// The sample belongs to the selecting goroutine, which uses several cores for one selection. The result of a selection
// that a rebalance interrupts is kept in the process by exploration id, and not computed again. After a crash it is.
package selection

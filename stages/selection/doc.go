// Package selection chooses the features of an exploration: it merges the sums of its closed
// partitions, reads the sample if the criterion needs rows, runs all further rounds in memory, and
// publishes the feature set.
//
// Nouns:
//
//   - the sums are the checkpoints' sums, merged in partition order ([Merge]);
//   - the sample consists of the rows that the checkpoints count, read from the topic samples in
//     partition order; if the samples of a partition do not match its checkpoint, they are refused
//     and its owner rereads the partition;
//   - [Select] chooses from both: a function of spec, sums and sample, the same for a stream and
//     for a file;
//   - the [Runner] is the stage: one instance at a time selects, the owner of the single partition
//     of explorations.
//
// The sample belongs to the selecting goroutine, which uses several cores for one selection. If a
// rebalance interrupts a selection, the process keeps the result under the hash of its spec and
// need not recompute it. After a crash it recomputes.
package selection

// Package selection chooses the features of an exploration: it merges the sums of its closed partitions, reads the sample
// where the criterion needs rows, makes every further round in memory, and publishes the feature set.
//
// Nouns:
//
//   - the sums are those of the checkpoints, merged in partition order ([Merge]);
//   - the sample is the rows behind them, read from the topic samples in partition order and compared with what the
//     checkpoints say of them; a partition whose samples do not agree is refused, and its owner reads it again;
//   - [Select] chooses from both: a function of spec, sums and sample, the same for a stream and for a file;
//   - the [Runner] is the stage: one instance at a time selects, the owner of the single partition of explorations.
//
// The sample belongs to the goroutine that selects, which uses several cores for one selection. What a rebalance interrupts
// is kept in the process by exploration id and not begun again; a crash begins again.
package selection

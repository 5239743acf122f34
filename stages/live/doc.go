// Package live compares predictions of live rows with their labels, and reports whether the current
// model is as good as at its training.
//
// Nouns:
//
//   - a [Tally] sums the errors of the labelled rows of one output message, before anything learns from them. Its sums go
//     into a header of that message;
//   - a [Builder] adds the sums of the messages of a partition up to blocks. A block closes by its compared rows and its
//     bytes alone, never by time, so it is a function of the log, and a new owner of the partition rebuilds the same
//     block. The open block may be published as a provisional one, which the final one replaces;
//   - a [Window] merges the blocks of all partitions: the newest rows, and the hours. Decisions use final blocks only;
//   - a [Report] holds the newest rows' errors next to the errors of a constant and the model's promise, and
//     whether they exceed the promise by more than their noise ([State]);
//   - a [Follower] reads the topic of blocks into a window.
//
// Memory: a window keeps the blocks of the newest [LongRows] rows, at most maxBlocks and
// blockBytes, provisional blocks, and [Hours] sums without scores. With the blocks that a follower
// reads ahead that is [WindowBytes].
//
// Concurrency: a Tally, a Builder and a Window belong to one goroutine. A Follower is safe for
// concurrent use.
package live

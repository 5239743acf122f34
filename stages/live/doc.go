// Package live compares predictions of live rows with their labels, and says whether the model in use is as good as it
// was when it was trained.
//
// Nouns:
//
//   - a [Tally] adds up the rows of one output message whose label is known, before anything learns from them. Its sums
//     go into a header of that message;
//   - a [Builder] adds the sums of the messages of a partition up to blocks, and closes a block by the log's own times
//     and sizes. So a block depends only on the messages, and a new owner of the partition that reads them again goes
//     on with the same block;
//   - a [Window] merges the blocks of all partitions: the newest rows, and the hours;
//   - a [Report] is what the window says: the newest rows' errors beside those of a constant and what the model
//     promised, and whether they are beyond the promise by more than their noise ([State]);
//   - a [Follower] reads the topic of blocks into a window.
//
// Memory: a window keeps the blocks of the newest [LongRows] rows, at most maxBlocks, and [Hours] sums without scores.
//
// Concurrency: a Tally, a Builder and a Window belong to one goroutine. A Follower is safe for concurrent use.
package live

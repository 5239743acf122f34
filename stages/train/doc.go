// Package train trains models on the features topic and decides which of them is current.
//
// Nouns:
//
//   - a [Trainer] collects the rows of the messages of one feature set for a fit, without a
//     broker. Each row counts once, even if owners that lost a partition have rewritten it,
//     because a [Partition] tracks the position of its rows;
//   - a lane holds the rows of some neighbouring partitions: their sums for the squared loss, the
//     rows themselves for the logistic loss. There are at most [Lanes], so that memory does not
//     grow with the number of partitions;
//   - a cell holds consecutive rows of a lane and a sample of its held-out rows. Older cells are
//     larger. The age of a cell decides how much its rows count under a half-life. Cells are cut
//     by numbers of rows, so that they only depend on the log;
//   - a cell that is too old to judge models is folded: its held-out rows are fitted as well;
//   - the window is the part of the topic on which models are trained;
//   - a [FileTrainer] is a Trainer for the rows of a file;
//   - held-out rows are chosen by hash. λ is chosen and errors are measured on them. If possible
//     they come from other events than the exploration of the set; otherwise the metrics of the
//     model report that the exploration has seen them;
//   - a challenger is a new model, the incumbent the current one. Both are compared on the newest
//     held-out rows on which neither was fitted;
//   - a verdict is the rule by which the challenger replaces the incumbent, or the reason why it
//     does not.
//
// A [Runner] is the stage. It keeps no durable state. After a start it rebuilds the sums from the
// topic, beginning with the window. It also rebuilds them when they hold twice the window and, for
// a lane, when the log of one of its partitions was truncated or recreated. [Evaluate] measures a
// model on events.
//
// With up to [Lanes] partitions, the bits of the weights are a function of the feature set, the
// configuration and the rows of the ranges: each partition is summed in offset order, and lanes are
// added in order. With more partitions, those of a lane are added one after another at every
// interval, so the last digits also depend on when the intervals fall. This affects neither the
// first model after a start nor a model trained by a command.
//
// Memory: each cell takes sums of 4·(M+K)² bytes for M features and K outputs. A cell that is not
// folded takes two of them, or three where rows taught the features. A lane has at most [MaxCells].
// With the logistic loss the rows take memory instead, bounded by train.row_memory; if they do not
// fit, a share of them is chosen by hash ([rowShare]). Each cell that is not folded also keeps up
// to train.evaluation_rows held-out rows.
//
// Concurrency: a Runner belongs to one goroutine. While it reads, each lane has a goroutine that
// owns its sums and the offsets and positions of its partitions. All of them end before a model is
// trained. The partitions of a lane belong to one goroutine, and no other method of a Trainer may
// run while one of its partitions adds rows. The rows of a lane are under a lock, because another
// lane drops some of them when memory runs short.
package train

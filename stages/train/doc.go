// Package train makes models from the features topic and decides which of them is in use.
//
// Nouns:
//
//   - a [Trainer] collects what the messages of one feature set contribute to a fit, without a broker. Each row counts
//     once, even if owners that lost a partition have written it again: a [Partition] knows how far its rows have come;
//   - a lane holds the sums for the squared loss, or the rows for the logistic one, of some neighbouring partitions. There
//     are at most [Lanes], so that memory does not grow with the partitions;
//   - a cell holds those of rows of a lane that came one after another, the larger the older they are, and a sample of
//     their held-out rows. The age of a cell says how much its rows count under a half-life. Cells are cut by numbers
//     of rows, so that the log alone decides;
//   - a cell that is too old to judge models is folded: its held-out rows are fitted as well;
//   - a window is how much of the topic models are made from;
//   - a [FileTrainer] is a Trainer for the rows of a file;
//   - held-out rows are chosen by hash; λ is chosen and errors are measured on them. These rows
//     come from other events than the set was explored on, if there are enough of them; otherwise the
//     metrics of the model say that the exploration has seen them;
//   - a challenger is a new model, the incumbent the one in use. Both are compared on the newest held-out rows that neither was
//     fitted on; the incumbent's predictions of them are the [baseline]. A model of another feature set predicts from
//     the events that the rows came from;
//   - a verdict says by which rule the challenger replaces the incumbent, or why it does not.
//
// A [Runner] is the stage. It keeps no durable state: after a start it builds the sums again from the topic, from where
// the window begins. It does the same when the sums hold a quarter more than the window and, for a lane, when the log
// of one of its partitions was truncated or recreated. [Evaluate] measures a model on events.
//
// With up to [Lanes] partitions, the weights are a function of the feature set, the configuration and the rows of the
// ranges, bit for bit: each partition is summed in offset order, and lanes are added up in order. With more, the
// partitions of a lane are added one after another at every interval, so that the last digits also depend on when the
// intervals fall. This does not affect the first model after a start, nor one made by a command.
//
// Memory: each cell takes sums of 4·(M+K)² bytes for M features and K outputs; one that is not folded twice that, or
// three times where features were. A lane has at most [MaxCells]. With the logistic loss they take the rows instead, bounded
// by train.row_memory (if there are more, a share chosen by hash, [rowShare]). Each cell that is not
// folded also keeps up to train.evaluation_rows held-out rows.
//
// Concurrency: a Runner belongs to one goroutine. While it reads, each lane has a goroutine that owns its sums and the
// offsets and positions of its partitions; all of them end before a model is made. The partitions of a lane belong to
// one goroutine, and no other method of a Trainer may run while one of its partitions adds. The rows that a lane keeps
// are under a lock, because another lane drops some of them when memory runs short.
package train

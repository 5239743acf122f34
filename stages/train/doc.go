// Package train makes models from the features topic and decides which of them is in use.
//
// Nouns:
//
//   - a [Trainer] has what the features messages of one feature set give to a fit, without a broker: for each partition
//     ([Partition]) sums for the squared loss or rows for the logistic one, and a sample of the held-out rows. Each row counts
//     once, whatever owners that lost a partition have written again;
//   - a [FileTrainer] is a Trainer that is given the rows of a file instead;
//   - held-out rows, named by a hash, are those that lambda is chosen by and errors are measured on. Of a set whose frequencies were
//     learned they come from other events than it was learned from, if enough of those are there; else the metrics of the model
//     say that the exploration has seen them;
//   - a challenger is a model that was just made, the incumbent the one in use. Both are compared on the held-out rows that
//     neither was fitted on; the incumbent's predictions of them are the [baseline]. A model of another feature set predicts
//     from the events that the rows came from;
//   - a verdict says by which rule the challenger takes the place of the incumbent, or why it does not.
//
// A [Runner] is the stage. It keeps no durable state: after a start the sums are built again from the topic, and those of a
// partition whose log was truncated or recreated, from its first offset. [Evaluate] measures a model on events.
//
// Memory: for each partition and for their merger the sums, 8·M·(M+K) bytes for M features and K outputs, twice that with
// held-out rows and three times where frequencies were learned, or with the logistic loss the rows, bounded by train.row_memory (of
// more rows a share by their hash, [rowShare]); and train.evaluation_rows held-out rows.
//
// Concurrency: a Runner belongs to one goroutine. While it reads, each partition has a goroutine that owns its sums, its
// offset and its position; all of them have ended before a model is made. A Partition belongs to one goroutine, and no other
// method of a Trainer may run while one of its partitions adds; the rows that it keeps are under a lock, as another partition drops
// some of them when memory runs short.
package train

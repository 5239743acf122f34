// Package pipe answers record batches from a pipe, for the worker of an engine or a notebook that
// runs the program as a child process. It has the bits and the code of the stages.
//
// The input is a sequence of Arrow IPC streams, whose schemas may differ. The output is one stream:
//
//   - its schema has the columns of the answers, and under [HelloKey] a [Hello]: version, feature
//     set, arithmetic, and the limits of a batch;
//   - its first batch has no rows. It is written before any input is read, because some readers of
//     streams wait for a batch before they return the schema;
//   - then each batch of the input has one batch of answers, written before the next batch is read,
//     with one answer for each row. The answer is null where the pipeline would reject the row.
//
// At the end of the input the output ends. Every fault is an error and ends the process: a batch
// that lacks columns of the feature set, is damaged, or is larger than the limits in the Hello.
//
// A row takes the same path as in package serve: [arrowio.Batches] cuts the input into messages,
// [events.Reader] decodes them, and [featurize.Mapper] maps the rows.
//
// Memory: one batch of [MaxBatchBytes], its decoding budget, and an answer of [MaxAnswerBytes]
// exist at a time; allocations follow the bytes that arrived. Concurrency: the rows of a batch are
// divided among [Options.Threads] mappers. Bits do not depend on their number.
package pipe

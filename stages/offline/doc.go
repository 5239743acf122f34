// Package offline explores the rows of a file, and trains a model on them: the functions of the stages on rows in
// memory, without a broker. The rows of the file stand for those of partition 0 of events from its first offset on, so that the
// feature set has the id that the stream would give.
//
// One goroutine reads the file; the selection uses all cores. The sample is in memory, the rows of the file are not.
package offline

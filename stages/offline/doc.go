// Package offline explores the rows of a file and trains a model on them, with the functions of the stages but without
// a broker. The rows of the file stand for partition 0 of events from its first offset on, so that the feature set gets
// the id that the stream would give it.
//
// One goroutine reads the file; the selection uses all cores. The sample is kept in memory, the rows of the file are
// not.
package offline

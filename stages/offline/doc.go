// Package offline explores the rows of a file and trains a model on them, with the functions of the
// stages but without a broker. The rows of the file stand for partition 0 of events from its first
// offset on, so that the feature set gets the same id as from a stream.
//
// One goroutine reads the file. The selection uses all cores. Only the sample is kept in memory.
package offline

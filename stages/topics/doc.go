// Package topics names the topics of a pipeline, creates them, and checks that they fit together.
//
// A topic is co-partitioned with events if it has at least as many partitions. Topics that hold
// state by key are compacted. Events never is, because compacted rows could not be reread.
//
// A [Config] is a value. The package keeps no state and starts no goroutines, and all of it is safe
// for concurrent use.
package topics

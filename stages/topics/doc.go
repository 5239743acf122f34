// Package topics names the topics of a pipeline, creates them, and checks that they fit together.
//
// A topic is co-partitioned with events if it has a partition for each of events; it may have more. Topics that hold
// state by key are compacted. Events never is, because its rows could not be read again.
//
// A [Config] is a value. Nothing here keeps memory or starts a goroutine, and all of it is safe for concurrent use.
package topics

// Package topics names the topics of a pipeline, creates them and checks that they fit together.
//
// A topic is co-partitioned with events when it has a partition for each of events; it may have more. Topics that hold
// state by key are compacted; events never is, for its rows could not be read again.
//
// A [Config] is a value; nothing here keeps memory or starts a goroutine, and all of it is safe from several.
package topics

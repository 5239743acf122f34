// Package pipelinetest is a broker in memory for tests: a [Broker] keeps the records of topic
// partitions in slices and follows the contracts of package pipeline. It has abilities that real
// brokers lack: it fails on request ([Broker.FailNext]), drops records as retention, compaction and
// unclean elections do ([Broker.Expire], [Broker.Remove], [Broker.LoseEnd]), and has unreadable
// batches ([Broker.Oversize]). It refuses requests over a topic's max.message.bytes
// ([Broker.AddConfiguredTopic]).
//
// It waits on channels and timers only, so it works inside a testing/synctest bubble. Every method
// is safe for concurrent use.
package pipelinetest

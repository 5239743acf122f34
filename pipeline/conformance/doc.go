// Package conformance tests the behaviours that package pipeline requires of a broker. Every
// implementation runs it in its own tests: [Test] with a [Source] that opens clients and states its
// abilities. Package pipeline/kafka runs it on the embedded broker and on Apache Kafka, package
// pipeline/pipelinetest on the broker in memory. Tests create their own topics and may share a
// broker.
package conformance

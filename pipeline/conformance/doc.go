// Package conformance is the suite of behaviours that package pipeline asks of a broker, for every source of events to
// run in its own tests: [Test] with a [Source] that opens clients and names what the source can do. Package
// pipeline/kafka runs it on the embedded broker and on Apache Kafka, package pipeline/pipelinetest on the broker in
// memory. Tests make topics of their own and may share a broker.
package conformance

// Package conformance is the suite of behaviours that package pipeline expects from a broker. Every source of events
// runs it in its own tests: [Test] with a [Source] that opens clients and names what the source can do. Package
// pipeline/kafka runs it on the embedded broker and on Apache Kafka, package pipeline/pipelinetest on the broker in
// memory. Tests create their own topics and may share a broker.
package conformance

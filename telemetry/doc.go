// Package telemetry shows what the stages of a process do: as metrics in the form of Prometheus ([NewRegistry]) and as
// traces of OpenTelemetry ([StartTracing]).
//
// The stages know neither. They count and observe in types of their own ([stages.Counters], [pipeline.Observed]), which a
// collector reads whenever somebody asks for the metrics; there is no second account that could differ. Of OpenTelemetry
// they know the interface in which spans are started, and nothing where no tracer is given.
//
// Every metric is defined in one list (metrics.go), has the label pipeline, and is documented in docs/operations.md, to which
// a test holds the list.
package telemetry

// Package telemetry shows what the stages of a process do: as metrics in the form of Prometheus ([NewRegistry]) and as
// traces of OpenTelemetry ([StartTracing]).
//
// The stages know neither. They count and observe in types of their own ([meter.Meter], [pipeline.Observed]), which a
// collector reads whenever somebody asks for the metrics; there is no second account that could differ. Of OpenTelemetry
// they know the interface in which spans are started, and nothing where no tracer is given.
//
// Every metric is a row of one table (metrics.go): its name, kind, unit, labels, meaning, and where its values come from.
// The collector follows from it, and so do, by go test ./telemetry -run Table -update, the part of docs/operations.md that lists
// the metrics and testdata/metrics.txt, to which the checks of dashboard and alerts hold these. All have the label pipeline.
package telemetry

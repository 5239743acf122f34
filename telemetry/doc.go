// Package telemetry publishes what the stages of a process do: as metrics for Prometheus
// ([NewRegistry]) and as traces for OpenTelemetry ([StartTracing]).
//
// The stages know neither. They count and observe in their own types ([meter.Meter],
// [pipeline.Observed]), which a collector reads whenever metrics are requested, so there is no
// second account that could differ. Of OpenTelemetry they only know the interface for starting
// spans, and without a tracer they start none.
//
// Every metric is a row of one table (metrics.go) with its name, kind, unit, labels, meaning and
// source of values. The collector is derived from it. go test ./telemetry -run Table -update also
// derives testdata/metrics.txt, against which pages, dashboard and alerts are checked. All metrics
// have the label pipeline.
package telemetry

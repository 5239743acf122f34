// Package monitoring checks the dashboard and the alert rules in k8s/monitoring against the metrics
// that a process serves (telemetry/testdata/metrics.txt, which a test there compares with a running
// process), the query language of Prometheus, and the runbook in docs/operations.md. Rules are also
// tried on made-up series: each expression by itself (testdata/alerts.yaml), and all of them over
// the hours of a day by Prometheus' own rule manager (testdata/rules.yaml, in the format of
// promtool). The tests count the pages that remain after Alertmanager's inhibitions.
//
// cmd/internal/checks is its own module because the parser and engine of Prometheus bring more
// dependencies than all programs together.
package monitoring

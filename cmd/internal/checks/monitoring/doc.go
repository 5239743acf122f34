// Package monitoring checks the dashboard and the alert rules in k8s/monitoring against the metrics that a process
// serves (telemetry/testdata/metrics.txt, which a test there compares with a running process), the query language of
// Prometheus, and the runbook in docs/operations.md. Rules are also tried on made-up series: each expression alone
// (testdata/alerts.yaml), and all of them over the hours of a day by Prometheus' own rule manager (testdata/rules.yaml,
// in the format of promtool). It counts the pages that remain after Alertmanager's inhibitions.
//
// cmd/internal/checks is a module of its own because the parser and engine of Prometheus, which it uses, bring more
// dependencies than all programs together.
package monitoring

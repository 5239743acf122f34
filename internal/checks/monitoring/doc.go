// Package monitoring holds the dashboard and the alert rules in k8s/monitoring to what they are about: the metrics that a
// process serves (telemetry/testdata/metrics.txt, which a test there compares with a running one), the query language of
// Prometheus, and the runbook in docs/operations.md. Rules are also tried on made-up series, each
// expression by itself (testdata/alerts.yaml) and all of them over the hours of a day by Prometheus' own rule manager (testdata/rules.yaml,
// in the format of promtool); what the inhibitions for Alertmanager leave of the pages is counted.
//
// internal/checks is a module of its own because the parser and engine of Prometheus, which it uses, bring more than all programs together.
package monitoring

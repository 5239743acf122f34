package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Metrics are the labels of a process's metrics, by their names in queries.
type Metrics map[string][]string

// target are the labels that the collector adds.
var target = []string{"job", "instance", "namespace", "pod"}

// ParseMetrics reads lines of name, type and labels with commas.
func ParseMetrics(text string) (Metrics, error) {
	metrics := Metrics{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return nil, fmt.Errorf("line %q: want name, type and labels", line)
		}
		name := fields[0]
		kind := fields[1]
		names := slices.Clone(target)
		if len(fields) > 2 {
			names = append(names, strings.Split(fields[2], ",")...)
		}
		if kind != "histogram" {
			metrics[name] = names
			continue
		}
		metrics[name+"_bucket"] = append(names, labels.BucketLabel)
		metrics[name+"_sum"], metrics[name+"_count"] = names, names
	}
	return metrics, nil
}

// grafana replaces Grafana's variables.
var grafana = strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$__interval", "1m")

// variable matches other variables, which only appear in texts.
var variable = regexp.MustCompile(`\$\{?[a-z_]+\}?`)

// Check parses a query and reports the metrics and labels in it that do not exist.
func (m Metrics) Check(query string) []error {
	query = variable.ReplaceAllString(grafana.Replace(query), "x")
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return []error{err}
	}
	var faults []error
	known := slices.Clone(target)
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			faults = append(faults, m.checkSelector(selector)...)
			known = append(known, m[selector.Name]...)
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		for _, label := range mentioned(node) {
			if !slices.Contains(known, label) {
				faults = append(faults, fmt.Errorf("label %s is on no metric of the query", label))
			}
		}
		return nil
	})
	return faults
}

func (m Metrics) checkSelector(selector *parser.VectorSelector) (faults []error) {
	names, ok := m[selector.Name]
	if !ok {
		return []error{fmt.Errorf("metric %s is not served", selector.Name)}
	}
	for _, matcher := range selector.LabelMatchers {
		if matcher.Name != model.MetricNameLabel && !slices.Contains(names, matcher.Name) {
			faults = append(faults, fmt.Errorf("metric %s has no label %s", selector.Name, matcher.Name))
		}
	}
	return faults
}

// mentioned returns the labels named by an aggregation or a vector matching.
func mentioned(node parser.Node) []string {
	switch n := node.(type) {
	case *parser.AggregateExpr:
		return n.Grouping
	case *parser.BinaryExpr:
		if n.VectorMatching != nil {
			return append(slices.Clone(n.VectorMatching.MatchingLabels), n.VectorMatching.Include...)
		}
	}
	return nil
}

package monitoring

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"go.yaml.in/yaml/v3"
)

const (
	alertsPath    = "../../../../k8s/monitoring/alerts.yaml"
	dashboardPath = "../../../../k8s/monitoring/dashboard.json"
	metricsPath   = "../../../../telemetry/testdata/metrics.txt"
	runbookPath   = "../../../../docs/operations.md"
	runbookURL    = "https://github.com/eerf-stream/eerf/blob/main/docs/operations.md#"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func served(t *testing.T) Metrics {
	t.Helper()
	metrics, err := ParseMetrics(string(read(t, metricsPath)))
	if err != nil || len(metrics) == 0 {
		t.Fatalf("%d metrics, %v", len(metrics), err)
	}
	return metrics
}

func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse(read(t, alertsPath), false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	var rules []rulefmt.Rule
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" {
				rules = append(rules, rule)
			}
		}
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	return rules
}

// besides lists labels of metrics that alerts use and no process serves: those that Prometheus and
// kube-state-metrics provide, and labels that a rule records.
var besides = Metrics{
	"up":                                  target,
	"kube_deployment_spec_replicas":       {"namespace", "deployment"},
	"eerf:stage_served_timestamp_seconds": {"namespace", "pipeline", "stage"},
}

func TestAlertsQueryServedMetrics(t *testing.T) {
	metrics := served(t)
	maps.Copy(metrics, besides)
	for _, rule := range alerts(t) {
		for _, fault := range metrics.Check(rule.Expr) {
			t.Errorf("%s: %v", rule.Alert, fault)
		}
		if severity := rule.Labels["severity"]; severity != "page" && severity != "ticket" {
			t.Errorf("%s has severity %q", rule.Alert, severity)
		}
		if rule.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", rule.Alert)
		}
	}
}

// Two namespaces may have pipelines of the same name, so aggregations and matches by pipeline must
// include the namespace.
func TestAlertsSeparateNamespaces(t *testing.T) {
	for _, rule := range alerts(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(rule.Expr)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if labels := mentioned(node); slices.Contains(labels, "pipeline") && !slices.Contains(labels, "namespace") {
				if match, ok := node.(*parser.BinaryExpr); !ok || match.VectorMatching.On {
					t.Errorf("%s: %s", rule.Alert, node)
				}
			}
			return nil
		})
	}
}

func TestEveryAlertHasRunbookSection(t *testing.T) {
	var parts, named []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (Eerf\w+)$`).FindAllStringSubmatch(string(read(t, runbookPath)),
		-1) {
		parts = append(parts, heading[1])
	}
	for _, rule := range alerts(t) {
		named = append(named, rule.Alert)
		if url := rule.Annotations["runbook_url"]; url != runbookURL+strings.ToLower(rule.Alert) {
			t.Errorf("%s: runbook_url %q", rule.Alert, url)
		}
	}
	slices.Sort(parts)
	slices.Sort(named)
	if !slices.Equal(parts, named) {
		t.Errorf("%s has sections for %v, the alerts are %v", runbookPath, parts, named)
	}
}

func TestDashboardQueriesServedMetrics(t *testing.T) {
	var dashboard any
	if err := json.Unmarshal(read(t, dashboardPath), &dashboard); err != nil {
		t.Fatal(err)
	}
	metrics := served(t)
	asked := map[string]bool{}
	var queries int
	var walk func(node any)
	walk = func(node any) {
		switch n := node.(type) {
		case []any:
			for _, one := range n {
				walk(one)
			}
		case map[string]any:
			if expr, ok := n["expr"].(string); ok {
				queries++
				if !strings.Contains(expr, `namespace=~"$namespace", pipeline=~"$pipeline"`) {
					t.Errorf("%s selects no namespace or pipeline", expr)
				}
				for _, fault := range metrics.Check(expr) {
					t.Errorf("%s: %v", expr, fault)
				}
				for name := range metrics {
					asked[name] = asked[name] || regexp.MustCompile(`\b`+name+`\b`).MatchString(expr)
				}
			}
			for _, one := range n {
				walk(one)
			}
		}
	}
	walk(dashboard)
	if queries < 40 {
		t.Errorf("%d queries", queries)
	}
	for name := range metrics {
		derived := strings.HasSuffix(name, "_sum") || strings.HasSuffix(name, "_count")
		if !asked[name] && !derived && !unshown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// unshown lists metrics that the dashboard leaves out.
var unshown = map[string]bool{
	"eerf_next_offset":                           true, // useful for one partition at a time
	"eerf_broker_fetches_waiting":                true, // the used share of kafka.fetch_memory is shown
	"eerf_output_messages_total":                 true, // its bytes are shown
	"eerf_broker_writers_total":                  true, // logged
	"eerf_exploration_planned_timestamp_seconds": true, // used by an alert
	"eerf_column_values_total":                   true, // compared by alerts; the page shows them by column
	"eerf_column_imputed_total":                  true,
	"eerf_column_missing_ratio":                  true,
	"eerf_unknown_field_rows_total":              true,
	"eerf_ignored_event_times_total":             true, // logged
}

// example holds series, in the language of Prometheus' own tests, for which an alert's expression
// is true at the end of a day, and others for which it is not.
type example struct {
	Alert string     `yaml:"alert"`
	Holds [][]string `yaml:"holds"`
	Not   [][]string `yaml:"not"`
}

func TestAlertExamplesAndCounterexamples(t *testing.T) {
	var examples []example
	if err := yaml.Unmarshal(read(t, "testdata/alerts.yaml"), &examples); err != nil {
		t.Fatal(err)
	}
	tried := map[string]example{}
	for _, e := range examples {
		tried[e.Alert] = e
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute})
	defer engine.Close()
	for _, rule := range alerts(t) {
		e := tried[rule.Alert]
		if len(e.Holds) == 0 || len(e.Not) == 0 {
			t.Errorf("%s lacks examples or counterexamples", rule.Alert)
		}
		delete(tried, rule.Alert)
		for i, series := range e.Holds {
			if n := alarms(t, engine, rule.Expr, series); n != 1 {
				t.Errorf("%s: %d alarms in example %d, want 1", rule.Alert, n, i)
			}
		}
		for i, series := range e.Not {
			if n := alarms(t, engine, rule.Expr, series); n != 0 {
				t.Errorf("%s: %d alarms in counterexample %d", rule.Alert, n, i)
			}
		}
	}
	for name := range tried {
		t.Errorf("%s is not an alert", name)
	}
}

// alarms evaluates an expression at the end of a day of series whose values are a minute apart.
func alarms(t *testing.T, engine *promql.Engine, expr string, series []string) int {
	t.Helper()
	loaded := promqltest.LoadedStorage(t, "load 1m\n  "+strings.Join(series, "\n  "))
	defer loaded.Close()
	query, err := engine.NewInstantQuery(t.Context(), loaded, nil, expr, time.Unix(0, 0).Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	vector, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return len(vector)
}

package monitoring

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

const rulesPath = "testdata/rules.yaml"

// unitTests is a file of unit tests for `promtool test rules`, with the used parts of its format.
// It is read strictly, so that promtool can run it too.
type unitTests struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []unitTest     `yaml:"tests"`
}

type unitTest struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Series   []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts []struct {
		At       model.Duration `yaml:"eval_time"`
		Name     string         `yaml:"alertname"`
		Expected []struct {
			Labels      map[string]string `yaml:"exp_labels"`
			Annotations map[string]string `yaml:"exp_annotations"`
		} `yaml:"exp_alerts"`
	} `yaml:"alert_rule_test"`
}

func readUnitTests(t *testing.T) unitTests {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, rulesPath)))
	decoder.KnownFields(true)
	var file unitTests
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	for i, name := range file.RuleFiles {
		file.RuleFiles[i] = filepath.Join(filepath.Dir(rulesPath), name)
	}
	return file
}

// play evaluates the rules over the series of a test until a time, as Prometheus does, and calls
// each with the alerts that fire at each evaluation.
func (f unitTests) play(
	t *testing.T,
	test unitTest,
	until time.Duration,
	each func(at time.Duration, firing []*rules.Alert),
) {
	t.Helper()
	var series strings.Builder
	fmt.Fprintf(&series, "load %v\n", test.Interval)
	for _, s := range test.Series {
		fmt.Fprintf(&series, "  %s %s\n", s.Series, s.Values)
	}
	suite, err := promqltest.NewLazyLoader(series.String(), promqltest.LazyLoaderOpts{})
	if err != nil {
		t.Fatal(err)
	}
	defer suite.Close()
	groups := f.load(t, suite)
	for at := time.Duration(0); at <= until; at += time.Duration(f.EvaluationInterval) {
		now := time.Unix(0, 0).UTC().Add(at)
		var failed error
		suite.WithSamplesTill(now, func(err error) { failed = err })
		if failed != nil {
			t.Fatal(failed)
		}
		var firing []*rules.Alert
		for _, group := range groups {
			group.Eval(suite.Context(), now)
			firing = append(firing, firingOf(t, group)...)
		}
		each(at, firing)
	}
}

// load reads the rule files into groups that work on the suite.
func (f unitTests) load(t *testing.T, suite *promqltest.LazyLoader) (groups []*rules.Group) {
	t.Helper()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(suite.QueryEngine(),
			suite.Storage()), Appendable: suite.Storage(), Context: t.Context(),
		NotifyFunc: func(context.Context, string,
			...*rules.Alert) {
		}, Logger: promslog.NewNopLogger(), Parser: parser.NewParser(parser.Options{}),
	})
	loaded, errs := manager.LoadGroups(time.Duration(f.EvaluationInterval), labels.EmptyLabels(), "", nil, false,
		f.RuleFiles...)
	for _, err := range errs {
		t.Fatal(err)
	}
	for _, group := range loaded {
		for _, rule := range group.Rules() {
			if alert, ok := rule.(*rules.AlertingRule); ok {
				alert.SetRestored(true) // otherwise it does not write ALERTS
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// firingOf returns the alerts of a group that fire after a successful evaluation.
func firingOf(t *testing.T, group *rules.Group) (firing []*rules.Alert) {
	t.Helper()
	for _, rule := range group.Rules() {
		if err := rule.LastError(); err != nil {
			t.Fatalf("%s: %v", rule.Name(), err)
		}
		alert, ok := rule.(*rules.AlertingRule)
		if !ok {
			continue
		}
		for _, active := range alert.ActiveAlerts() {
			if active.State == rules.StateFiring {
				firing = append(firing, active)
			}
		}
	}
	return firing
}

// until is the last time in a test.
func (u unitTest) until() (last time.Duration) {
	for _, a := range u.Alerts {
		last = max(last, time.Duration(a.At))
	}
	return last
}

// TestRules runs the unit tests of the rules, as `promtool test rules testdata/rules.yaml` does.
func TestRules(t *testing.T) {
	file := readUnitTests(t)
	for _, test := range file.Tests {
		t.Run(test.Name, func(t *testing.T) {
			file.play(t, test, test.until(), func(at time.Duration, firing []*rules.Alert) { test.checkAlerts(t, at, firing) })
		})
	}
}

// checkAlerts compares the alerts firing at a time with the expected ones.
func (u unitTest) checkAlerts(t *testing.T, at time.Duration, firing []*rules.Alert) {
	t.Helper()
	for _, expected := range u.Alerts {
		if time.Duration(expected.At) != at {
			continue
		}
		var want, have []string
		for _, alert := range expected.Expected {
			alert.Labels[labels.AlertName] = expected.Name
			want = append(want, labels.FromMap(alert.Labels).String()+" "+labels.FromMap(alert.Annotations).String())
		}
		for _, alert := range firing {
			if alert.Labels.Get(labels.AlertName) == expected.Name {
				have = append(have, alert.Labels.String()+" "+alert.Annotations.String())
			}
		}
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(have, want) {
			t.Errorf("%s at %v:\n%s\nwant\n%s", expected.Name, at, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	}
}

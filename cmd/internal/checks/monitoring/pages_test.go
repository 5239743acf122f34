package monitoring

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

const inhibitPath = "../../../../k8s/monitoring/inhibit.yaml"

// inhibition is a rule of Alertmanager: while a source alert fires, it suppresses target alerts
// with the same values of the labels in equal.
type inhibition struct {
	Source []matcher `yaml:"source_matchers"`
	Target []matcher `yaml:"target_matchers"`
	Equal  []string  `yaml:"equal"`
}

// matcher is a condition on a label in Alertmanager's language, as far as it is used here.
type matcher struct {
	name  string
	value *regexp.Regexp
}

var matcherText = regexp.MustCompile(`^(\w+) (=|=~) "?([^"]+)"?$`)

// UnmarshalYAML reads a text such as alertname =~ "A|B".
func (m *matcher) UnmarshalYAML(node *yaml.Node) error {
	parts := matcherText.FindStringSubmatch(node.Value)
	if parts == nil {
		return &yaml.TypeError{Errors: []string{node.Value + " is no matcher that this test understands"}}
	}
	pattern := parts[3]
	if parts[2] == "=" {
		pattern = regexp.QuoteMeta(pattern)
	}
	value, err := regexp.Compile("^(?:" + pattern + ")$")
	*m = matcher{parts[1], value}
	return err
}

func matchAll(matchers []matcher, l labels.Labels) bool {
	return !slices.ContainsFunc(matchers, func(m matcher) bool { return !m.value.MatchString(l.Get(m.name)) })
}

func inhibitions(t *testing.T) []inhibition {
	t.Helper()
	var file struct {
		Rules []inhibition `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(read(t, inhibitPath), &file); err != nil || len(file.Rules) == 0 {
		t.Fatalf("%d rules, %v", len(file.Rules), err)
	}
	return file.Rules
}

// inhibited reports whether a firing alert explains another one.
func inhibited(by []inhibition, alert *rules.Alert, firing []*rules.Alert) bool {
	return slices.ContainsFunc(by, func(rule inhibition) bool {
		return matchAll(rule.Target, alert.Labels) && slices.ContainsFunc(firing, func(source *rules.Alert) bool {
			return matchAll(rule.Source, source.Labels) && !slices.ContainsFunc(rule.Equal, func(name string) bool {
				return source.Labels.Get(name) != alert.Labels.Get(name)
			})
		})
	})
}

// pages plays a test of the file and returns the time of the first page for each alert.
func pages(t *testing.T, name string, until time.Duration) (sent, all map[string]time.Duration) {
	t.Helper()
	file, by := readUnitTests(t), inhibitions(t)
	at := slices.IndexFunc(file.Tests, func(test unitTest) bool { return test.Name == name })
	if at < 0 {
		t.Fatalf("%s has no test %q", rulesPath, name)
	}
	sent, all = map[string]time.Duration{}, map[string]time.Duration{}
	file.play(t, file.Tests[at], until, func(at time.Duration, firing []*rules.Alert) {
		for _, alert := range firing {
			if alert.Labels.Get("severity") != "page" {
				continue
			}
			text := alert.Labels.String()
			if _, known := all[text]; !known {
				all[text] = at
			}
			if _, known := sent[text]; !known && !inhibited(by, alert, firing) {
				sent[text] = at
			}
		}
	})
	return sent, all
}

// A broker outage of three quarters of an hour, with all its consequences, pages once, within five
// minutes, for the cause.
func TestUnavailableBrokerPagesOnce(t *testing.T) {
	const away = 30 * time.Minute // after the start of the series
	sent, all := pages(t, "a broker is away", 2*time.Hour)
	const want = `{alertname="EerfBrokerAway", namespace="eerf", pipeline="default", severity="page"}`
	if at, ok := sent[want]; !ok || len(sent) != 1 || at <= away || at > away+5*time.Minute {
		t.Errorf("pages %v, want one within five minutes of %v", sent, away)
	}
	if len(all) < 7 { // five stages that are not joined, the lag
		t.Errorf("only %v fire, so inhibition is not tested", all)
	}
}

// If a pipeline is no longer scraped, there is one page, not one for each stage.
func TestUnscrapedPipelinePagesOnce(t *testing.T) {
	sent, all := pages(t, "scraping stops", 90*time.Minute)
	const want = `{alertname="EerfNotScraped", namespace="eerf", severity="page"}`
	if _, ok := sent[want]; !ok || len(sent) != 1 || len(all) != 3 {
		t.Errorf("pages %v of %v, want one for two stages", sent, all)
	}
}

// Inhibitions name only existing alerts.
func TestInhibitionsNameExistingAlerts(t *testing.T) {
	names := map[string]bool{}
	for _, rule := range alerts(t) {
		names[rule.Alert] = true
	}
	text := string(read(t, inhibitPath))
	for _, list := range regexp.MustCompile(`Eerf(?:\((\w+(?:\|\w+)*)\)|(\w+))`).FindAllStringSubmatch(text, -1) {
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(list[1]+" "+list[2], -1) {
			if !names["Eerf"+name] {
				t.Errorf("%s names Eerf%s, which is not an alert", inhibitPath, name)
			}
		}
	}
}

package k8s

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// matcher is a matcher in the form of the Prometheus operator.
type matcher struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	MatchType string `json:"matchType"`
}

var plainMatcher = regexp.MustCompile(`^(\w+) (=|=~) "?([^"]+)"?$`)

func matchers(t *testing.T, texts []string) []matcher {
	t.Helper()
	var all []matcher
	for _, text := range texts {
		parts := plainMatcher.FindStringSubmatch(text)
		if parts == nil {
			t.Fatalf("%q is not a matcher that this test understands", text)
		}
		all = append(all, matcher{Name: parts[1], MatchType: parts[2], Value: parts[3]})
	}
	return all
}

// TestAlertmanagerConfigMatchesInhibitions compares the operator's resource with the file of rules
// from which it was written.
func TestAlertmanagerConfigMatchesInhibitions(t *testing.T) {
	var plain struct {
		Rules []struct {
			Source []string `json:"source_matchers"`
			Target []string `json:"target_matchers"`
			Equal  []string `json:"equal"`
		} `json:"inhibit_rules"`
	}
	if err := yaml.UnmarshalStrict([]byte(readFile(t, "k8s/monitoring/inhibit.yaml")), &plain); err != nil {
		t.Fatal(err)
	}
	type rule struct {
		Source []matcher `json:"sourceMatch"`
		Target []matcher `json:"targetMatch"`
		Equal  []string  `json:"equal"`
	}
	var rules []rule
	for _, r := range plain.Rules {
		rules = append(rules, rule{matchers(t, r.Source), matchers(t, r.Target), r.Equal})
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "AlertmanagerConfig",
		"metadata": map[string]any{"name": "eerf"}, "spec": map[string]any{"inhibitRules": rules},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "# The rules of inhibit.yaml, for the Prometheus operator, which applies them only to alerts of this " +
		"namespace. Written from that\n" +
		"# file, in cmd/internal/checks/k8s: go test -run TestAlertmanagerConfigMatchesInhibitions -update\n" +
		strings.ReplaceAll(string(text), "matchType: =\n", "matchType: '='\n") // some parsers read a bare one differently
	name := filepath.Join(manifestsPath, "monitoring", "alertmanagerconfig.yaml")
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have := readFile(t, "k8s/monitoring/alertmanagerconfig.yaml"); have != want {
		t.Errorf("%s differs from inhibit.yaml; run this test with -update", name)
	}
}

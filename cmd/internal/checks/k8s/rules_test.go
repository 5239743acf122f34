package k8s

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write k8s/monitoring/prometheusrule.yaml anew")

// TestPrometheusRuleMatchesAlerts compares the operator's resource with the file of rules from
// which it was written.
func TestPrometheusRuleMatchesAlerts(t *testing.T) {
	_, groups, found := strings.Cut(readFile(t, "k8s/monitoring/alerts.yaml"), "\ngroups:")
	if !found {
		t.Fatal("alerts.yaml has no groups")
	}
	var want strings.Builder
	want.WriteString(
		`# The rules of alerts.yaml, for the Prometheus operator. Written from that file, in cmd/internal/checks/k8s:
#   go test -run TestPrometheusRuleMatchesAlerts -update
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: eerf
spec:
`,
	)
	for line := range strings.Lines("groups:" + groups) {
		if strings.TrimSpace(line) != "" {
			want.WriteString("  ")
		}
		want.WriteString(line)
	}
	name := filepath.Join(manifestsPath, "monitoring", "prometheusrule.yaml")
	if *update {
		if err := os.WriteFile(name, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have := readFile(t, "k8s/monitoring/prometheusrule.yaml"); have != want.String() {
		t.Errorf("%s differs from alerts.yaml; run this test with -update", name)
	}
}

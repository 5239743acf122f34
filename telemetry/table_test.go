package telemetry

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what follows from the table of metrics: testdata/metrics.txt")

// TestEveryMetric compares the file with the metrics of a process, cmd/internal/checks with
// queries, and cmd/internal/checks/docs with pages.
func TestListFollowsFromTheTable(t *testing.T) {
	const name = "testdata/metrics.txt"
	list := []string{ // metrics of the Go runtime and the process in dashboard and alerts
		"go_gc_gomemlimit_bytes gauge \n", "go_goroutines gauge \n", "process_cpu_seconds_total counter \n",
		"process_resident_memory_bytes gauge \n", "process_start_time_seconds gauge \n",
	}
	for _, m := range metrics {
		labels := append(strings.Fields(m.labels), "pipeline")
		slices.Sort(labels)
		list = append(list, fmt.Sprintf("%s%s %s %s\n", namespace, m.name, m.kind, strings.Join(labels, ",")))
	}
	slices.Sort(list)
	want := strings.Join(list, "")
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(name); err != nil || string(have) != want {
		t.Errorf("%s does not follow from the table: run this test with -update (%v)", name, err)
	}
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// Members that learned different features disagree about rows; one member has nobody to disagree
// with.
func TestSpreadOfMembers(t *testing.T) {
	data := clitest.File(t, "clicks.csv", clicks(1500))
	for label, most := range map[string]float64{"clicked": 0.5, "z": 1} {
		args := []string{"--label", label, "--features", "24", "--candidates", "200", "--refine-steps", "2"}
		model, _ := fitted(t, data, with(args, "--members", "3")...)
		spreads := numbers(t, predicted(t, model, data, "--spread")["spread"])
		positive := 0
		for i, v := range spreads {
			if !(v >= 0 && v < most) {
				t.Fatalf("%s: row %d has the spread %v", label, i, v)
			}
			if v > 0 {
				positive++
			}
		}
		if positive < len(spreads)*9/10 {
			t.Errorf("%s: members agree on all but %d of %d rows", label, positive, len(spreads))
		}
		if columns := predicted(t, model, data); columns["spread"] != nil {
			t.Errorf("%s: a spread that nobody asked for", label)
		}
		model, _ = fitted(t, data, with(args, "--members", "1")...)
		said := tr(t, "predict", "--model", model, "--data", data, "--spread",
			"--out", filepath.Join(t.TempDir(), "p.csv")).Want(t, cli.ExitFailure).Err
		if !strings.Contains(said, "no mean of members") {
			t.Errorf("%s: %s", label, said)
		}
	}
}

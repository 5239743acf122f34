package main

import (
	"os"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/internal/hostile"
	"github.com/eerf-stream/eerf/scoring"
)

// The README shows lines of the table that the demo prints.
func TestReadmeMatchesDemoOutput(t *testing.T) {
	if testing.Short() || hostile.RaceDetector {
		t.Skip("runs the demo on all of its rows")
	}
	if !strings.HasPrefix(scoring.Arithmetic(), "fma1-") || !strings.HasSuffix(scoring.Arithmetic(), "-amd64") {
		t.Skip("the last bits of another numeric kernel make another feature set")
	}
	emptyTemp(t)
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for line := range strings.Lines(fz(t, "demo").Want(t, cli.ExitOK).Out) {
		printed[strings.Join(strings.Fields(line), " ")] = true
	}
	shown := 0
	for line := range strings.Lines(string(page)) {
		words := strings.Join(strings.Fields(line), " ")
		if !strings.HasPrefix(words, "│") || strings.HasPrefix(words, "│ ... ") {
			continue
		}
		shown++
		if !printed[words] {
			t.Errorf("the demo does not print %q", words)
		}
	}
	if shown < 5 {
		t.Errorf("README.md shows %d lines of the demo", shown)
	}
}

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// Names, classes and categories with terminal escape sequences and line breaks.
const (
	hostileColumn   = "b\x1b]0;TITLE\x07\x1b[2J"
	hostileClass    = "\x1b[41mCLS"
	hostileCategory = "v\r\nfeaturizer: all is well"
)

// printableOnly fails the test if text for people has a control character other than line breaks.
func printableOnly(t *testing.T, what, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
		t.Errorf("%s: control character %q in\n%q", what, text[i], text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "featurizer: all is well") {
			t.Errorf("%s: a category appears as a line of output:\n%s", what, text)
		}
	}
}

func TestOutputIsPrintable(t *testing.T) {
	var rows strings.Builder
	fmt.Fprintf(&rows, "a,%s,cat,y\n", hostileColumn)
	for i := range 400 {
		class := "ok"
		if i%7 < 3 {
			class = hostileClass
		}
		fmt.Fprintf(&rows, "%d,%d,\"%s\",%s\n", i%7, i%11, []string{"u", hostileCategory}[i%2], class)
	}
	data := clitest.File(t, "rows.csv", rows.String())
	dir := t.TempDir()
	set := filepath.Join(dir, "set.arrow")

	explore := []string{"explore", "--data", data, "--label", "y", "--features", "8", "--out", set}
	explored := fz(t, explore...).Want(t, cli.ExitOK)
	printableOnly(t, "explore", explored.Out)
	inspected := fz(t, "inspect", "--file", set).Want(t, cli.ExitOK).Out
	printableOnly(t, "inspect", inspected)
	if !strings.Contains(inspected, `b\x1b]0;TITLE\x07`) {
		t.Errorf("inspect does not show the column:\n%s", inspected)
	}
	exported := fz(t, "export", "--file", set, "--onnx", filepath.Join(dir, "set.onnx"))
	printableOnly(t, "export", exported.Out+exported.Err)
	unknown := fz(t, "explore", "--data", data, "--label", "z\x1b[2J").Want(t, cli.ExitUsage)
	printableOnly(t, "explore without the column", unknown.Err)
	config := clitest.File(t, "eerf.yaml", "train: {\"inter\\e[2Jval\\nall is well\": 1}\n")
	printableOnly(t, "config check", fz(t, "config", "check", "-c", config).Want(t, cli.ExitUsage).Err)

	// JSON keeps names as they are.
	o := fz(t, "inspect", "--file", set, "--json").Want(t, cli.ExitOK).Object(t)
	if _, ok := usesOf(t, o)[hostileColumn]; !ok {
		t.Errorf("the JSON output lacks the column %q: %v", hostileColumn, o.At(t, "lineage"))
	}
}

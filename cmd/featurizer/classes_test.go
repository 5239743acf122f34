package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// sortedByClass makes rows of five classes, one class after the other: calibration sees only the
// first.
func sortedByClass(perClass int) string {
	var rows strings.Builder
	rows.WriteString("x,size,grade\n")
	for i := range 5 * perClass {
		class := i / perClass
		fmt.Fprintf(&rows, "%d,%s,%c\n", i*i%101+30*class, []string{"S", "M", "L"}[i%3], 'a'+class)
	}
	return rows.String()
}

func TestAFileSortedByClassHasAllClasses(t *testing.T) {
	data := clitest.File(t, "sorted.csv", sortedByClass(2500))
	out := filepath.Join(t.TempDir(), "set.arrow")
	small := []string{"--data", data, "--label", "grade", "--criterion", "correlation", "--features", "8", "--json"}
	fz(t, append([]string{"explore", "--out", out}, small...)...).Want(t, cli.ExitOK)
	set, err := cli.ReadFeatureSet(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Encoder.Label.Classes; !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) || set.Lineage.Counts.Unlabelled != 0 {
		t.Errorf("classes %q, %d rows without one", got, set.Lineage.Counts.Unlabelled)
	}
	demo := fz(t, append([]string{"demo"}, small...)...).Want(t, cli.ExitOK)
	if o := demo.Object(t); o.Number(t, "rows.unlabelled") != 0 || strings.Contains(demo.Out, "not among") {
		t.Errorf("demo: %v rows without a class", o.Number(t, "rows.unlabelled"))
	}
}

func TestLabelsThatCannotBeLearnedAreNamed(t *testing.T) {
	rows := func(label func(i int) string) string {
		var text strings.Builder
		text.WriteString("x,y\n")
		for i := range 3000 {
			fmt.Fprintf(&text, "%d,%s\n", i*i%101, label(i))
		}
		return clitest.File(t, "rows.csv", text.String())
	}
	for name, c := range map[string]struct {
		label func(i int) string
		says  string
	}{
		"one class":  {func(int) string { return "yes" }, `label "y" has one value (yes) in all `},
		"one number": {func(int) string { return "0" }, `label "y" has one value (0) in all `},
		"names":      {func(i int) string { return fmt.Sprint("user", i) }, `label "y" looks like an identifier`},
		"numbers":    {func(i int) string { return fmt.Sprint(i + 1) }, `label "y" looks like an identifier`},
	} {
		t.Run(name, func(t *testing.T) {
			data := rows(c.label)
			for _, command := range []string{"explore", "demo"} {
				fz(t, command, "--data", data, "--label", "y", "--criterion", "correlation", "--features", "8").Want(t, cli.ExitFailure, c.says, "events.label")
			}
		})
	}
	grades := rows(func(i int) string { return fmt.Sprint(i % 3) })
	for _, command := range []string{"explore", "demo"} {
		shown := fz(t, command, "--data", grades, "--label", "y", "--criterion", "correlation", "--features", "8").Want(t, cli.ExitOK).Out
		if !strings.Contains(strings.Join(strings.Fields(shown), " "), `label "y" holds numbers and is taken for a regression's, with only 3 distinct values`) {
			t.Errorf("%s: no hint in %s", command, shown)
		}
	}
}

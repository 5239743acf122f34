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

func TestFileSortedByClassYieldsAllClasses(t *testing.T) {
	data := clitest.File(t, "sorted.csv", sortedByClass(2500))
	out := filepath.Join(t.TempDir(), "set.arrow")
	small := []string{"--data", data, "--label", "grade", "--criterion", "correlation", "--features", "8", "--json"}
	fz(t, append([]string{"explore", "--out", out}, small...)...).Want(t, cli.ExitOK)
	set, err := cli.ReadFeatureSet(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Encoder.Label.Classes; !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) ||
		set.Lineage.Counts.Unlabelled != 0 {
		t.Errorf("classes %q, %d rows without one", got, set.Lineage.Counts.Unlabelled)
	}
	demo := fz(t, append([]string{"demo"}, small...)...).Want(t, cli.ExitOK)
	if o := demo.Object(t); o.Number(t, "rows.unlabelled") != 0 || strings.Contains(demo.Out, "not among") {
		t.Errorf("demo: %v rows without a class", o.Number(t, "rows.unlabelled"))
	}
}

// A label of more classes than events.max_classes is refused by name, before anything is learned.
func TestTooManyClassesAreRefused(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,grade\n")
	for i := range 3000 {
		fmt.Fprintf(&rows, "%d,grade %d\n", i*i%101, i%90)
	}
	data := clitest.File(t, "many.csv", rows.String())
	out := filepath.Join(t.TempDir(), "set.arrow")
	explore := func(most int) clitest.Result {
		return fz(t, "explore", "--data", data, "--label", "grade", "--criterion", "correlation", "--features", "8",
			"--out", out, "--set", fmt.Sprint("events.max_classes=", most))
	}
	if r := explore(89); r.Code == cli.ExitOK ||
		!strings.Contains(r.Err, "has 90 classes in 3000 labelled rows, and events.max_classes allows 89") {
		t.Errorf("exit code %d, %s", r.Code, r.Err)
	}
	explore(90).Want(t, cli.ExitOK)
}

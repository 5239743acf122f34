package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/internal/messy"
)

// messyRows is less than the file's intended 50,000, to save time.
const messyRows = 6000

// messyFile writes the messy file.
func messyFile(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := messy.Write(&b, messyRows, 1); err != nil {
		t.Fatal(err)
	}
	return clitest.File(t, "messy.csv", b.String())
}

// usesOf returns the uses of the columns in a summary of a feature set, by name.
func usesOf(t *testing.T, summary clitest.Object) map[string]map[string]any {
	t.Helper()
	uses := map[string]map[string]any{}
	for _, column := range summary.At(t, "lineage.columns").([]any) {
		use := column.(map[string]any)
		uses[use["column"].(string)] = use
	}
	return uses
}

// TestMessyFile explores a realistic, messy file: all columns except identifiers become features,
// and oddities are reported.
func TestMessyFile(t *testing.T) {
	data, set := messyFile(t), filepath.Join(t.TempDir(), "set.arrow")
	explore := []string{"explore", "--data", data, "--label", messy.Segment, "--exclude", messy.Churned,
		"--features", "12", "--criterion", "correlation", "--out", set}
	summary := fz(t, append(explore, "--json")...).Want(t, cli.ExitOK).Object(t)
	uses := usesOf(t, summary)
	for _, name := range messy.Columns() {
		if uses[name]["use"] != "feature" {
			t.Errorf("column %q: %v", name, uses[name])
		}
	}
	for _, name := range messy.Identifiers() {
		if use := uses[name]; use["use"] != "left out" || !strings.Contains(fmt.Sprint(use["reason"]), "identifier") {
			t.Errorf("identifier %q: %v", name, use)
		}
	}
	if n := len(messy.Columns()) + len(messy.Identifiers()) + 2; len(uses) != n {
		t.Errorf("%d columns, want %d", len(uses), n)
	}
	for name, kind := range map[string]string{"Signup date": "time", "last seen (UTC)": "time", "Age": "numeric",
		"Income, yearly": "numeric", "newsletter": "bool", "Ort": "category"} {
		if uses[name]["kind"] != kind {
			t.Errorf("column %q: %v, want kind %s", name, uses[name], kind)
		}
	}
	if summary.Text(t, "feature_set.task") != "multiclass" || summary.Number(t, "rows.unlabelled") != 0 ||
		summary.Number(t, "rows.rejected") != 0 {
		t.Errorf("%v, rows %v", summary.At(t, "feature_set"), summary.At(t, "rows"))
	}

	for _, out := range []string{
		fz(t, explore...).Want(t, cli.ExitOK).Out, fz(t, "inspect", "--file", set).Want(t, cli.ExitOK).Out,
	} {
		for _, words := range []string{
			"11 of 13 are features",
			"Customer ID",
			"values are none and count as missing:",
			`"n.v." in`,
			`in "€"`,
			"with decimal commas",
			"2 dates and times",
		} {
			if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(out, "│", " ")), " "), words) &&
				!strings.Contains(out, words) {
				t.Errorf("%q is not in\n%s", words, out)
			}
		}
	}
	inspected := fz(t, "inspect", "--file", set, "--json").Want(t, cli.ExitOK).Object(t)
	if a, b := fmt.Sprint(usesOf(t, inspected)), fmt.Sprint(uses); a != b {
		t.Errorf("inspect says %s, explore said %s", a, b)
	}
	classes := featuresOf(t, set, data)
	if !slices.Equal(classes, messy.Segments()) {
		t.Errorf("classes %v", classes)
	}
}

// featuresOf transforms the rows of a file and returns the classes among them.
func featuresOf(t *testing.T, set, data string) []string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "features.csv")
	done := fz(t, "transform", "--set", set, "--data", data, "--out", out, "--json").Want(t, cli.ExitOK).Object(t)
	if done.Number(t, "rows.featurized") != messyRows ||
		!strings.Contains(fmt.Sprint(done.At(t, "notes")), "Income, yearly: ") {
		t.Errorf("transformed: %v", done)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], messy.Segment)
	var classes []string
	for _, row := range rows[1:] {
		if !slices.Contains(classes, row[at]) {
			classes = append(classes, row[at])
		}
	}
	return classes
}

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines writes a file of a header and rows.
func lines(t *testing.T, name, header string, rows int, row func(i int) string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range rows {
		b.WriteString(row(i) + "\n")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNullValuesOfAModelHoldInPrediction(t *testing.T) {
	data := lines(t, "sales.csv", "units,shop,y", 400, func(i int) string {
		units, shop := fmt.Sprint(i*i%97), []string{"north", " south ", "keine"}[i%3]
		if i%5 == 0 {
			units = "-999"
		}
		return units + "," + shop + "," + word(i*i%97 > 40 != (i%3 == 0))
	})
	model, _ := fitted(t, data, "--label", "y", "--features", "16", "--null-values=-999,keine")
	got := predicted(t, model, data)
	clean := lines(t, "clean.csv", "units,shop,y", 400, func(i int) string {
		units, shop := fmt.Sprint(i*i%97), []string{"north", "south", ""}[i%3]
		if i%5 == 0 {
			units = ""
		}
		return units + "," + shop + "," + word(i*i%97 > 40 != (i%3 == 0))
	})
	if want := predicted(t, model, clean); !maps.EqualFunc(got, want, equalTexts) {
		t.Error("a file with words for missing values has other predictions than one with empty fields")
	}
}

func equalTexts(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

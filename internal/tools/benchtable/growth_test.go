package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// growthRounds writes what a processor of 150 GF/s would measure that spends element operations on each feature of a
// row, output on each further output, and nothing on classes.
func growthRounds(t *testing.T, element, output float64) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "pkg: github.com/eerf-stream/eerf/scoring")
	base := map[string]float64{"rows": 4096, "dim": 77, "features": 4000, "outputs": 1, "classes": 0}
	for vary, values := range map[string][]float64{
		"rows": {1000, 10000}, "dim": {10, 100, 1000}, "features": {1000, 10000}, "outputs": {1, 10}, "classes": {2, 26},
	} {
		for _, v := range values {
			name := "BenchmarkGrowthScore/vary=" + vary
			s := map[string]float64{}
			for k, otherwise := range base {
				s[k] = otherwise
				if k == vary {
					s[k] = v
				}
				name += fmt.Sprintf("/%s=%v", k, s[k])
			}
			operations := s["rows"] * s["features"] * (2*s["dim"] + element + output*(s["outputs"]-1))
			for procs := 1.0; procs <= 2; procs++ {
				fmt.Fprintf(&b, "%s/procs=%v 1 %v ns/op\n", name, procs, operations/150/procs)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "growth.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFitFindsTheCosts(t *testing.T) {
	lines, err := readFiles([]string{growthRounds(t, 26, 9)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := models[0].fit(panelsOf("GrowthScore", lines))
	if err != nil {
		t.Fatal(err)
	}
	for procs := 1; procs <= 2; procs++ {
		second := 1 / (150e9 * float64(procs))
		for i, want := range []float64{second, 26 * second, 9 * second, 0} {
			if got := f.costs[procs][i]; math.Abs(got-want) > 1e-6*second {
				t.Errorf("cost %d on %d processors is %v, want %v", i, procs, got, want)
			}
		}
		if largest := f.off[procs][len(f.off[procs])-1]; largest > 1e-6 {
			t.Errorf("largest error on %d processors is %v", procs, largest)
		}
	}
}

// TestNoCostIsNegative uses times that fall with the number of outputs.
func TestNoCostIsNegative(t *testing.T) {
	lines, err := readFiles([]string{growthRounds(t, 26, -1)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := models[0].fit(panelsOf("GrowthScore", lines))
	if err != nil {
		t.Fatal(err)
	}
	if costs := f.costs[1]; costs[0] <= 0 || costs[1] <= 0 || costs[2] != 0 {
		t.Errorf("costs are %v, want positive ones but for the outputs, which are free", costs)
	}
}

// TestPicturesAreWellFormed reads a picture as XML and looks for its labels.
func TestPicturesAreWellFormed(t *testing.T) {
	folder := t.TempDir()
	var out bytes.Buffer
	if err := run([]string{"-growth", folder, growthRounds(t, 26, 9)}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "N·M0·(2d + 26 + 9·(K−1))"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in:\n%s", want, &out)
	}
	text := xmlText(t, readFile(t, filepath.Join(folder, "growth-score.svg")))
	for _, want := range []string{
		"score: rows N", "score: dimension d", "score: candidates M0", "score: outputs K", "score: classes K",
		"1 core", "2 cores", "10000", "100 ms",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

// xmlText returns the text of a document, and fails if it is not well-formed.
func xmlText(t *testing.T, document string) string {
	t.Helper()
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/compare"
)

// lab runs the command and returns its output.
func lab(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// waves makes a file of rows whose label is a cosine of two columns.
func waves(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,z,c,y\n")
	for i := range 400 {
		x, z := math.Mod(float64(i)*0.618, 1), math.Mod(float64(i)*0.414, 1)
		fmt.Fprintf(&b, "%.6f,%.6f,%c,%.6f\n", x, z, 'a'+i%3, math.Cos(5*x-3*z))
	}
	path := filepath.Join(t.TempDir(), "waves.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryMethodOnAnyFile(t *testing.T) {
	file, dir := waves(t), filepath.Join(t.TempDir(), "report")
	methods := []string{"plain", "orf", "sorf", "qmc", "ses", "leverage", "leverage-top", "lkrf"}
	out, err := lab(t, "compare", file, "--label", "y", "--methods", strings.Join(methods, ","), "--features", "20",
		"--candidates", "100", "--repeats", "2", "--out", dir)
	if err != nil {
		t.Fatal(err)
	}
	var result compare.Result
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil || len(result.Tables) != 1 || len(result.Tables[0].Lines) != len(methods) {
		t.Fatalf("%v, %+v", err, result)
	}
	for i, l := range result.Tables[0].Lines {
		if l.Method != methods[i] || l.Repeats != 2 || !(l.Error.Mean > 0 && l.Error.Mean < 60) ||
			!strings.Contains(out, "\n"+l.Method) {
			t.Errorf("%+v", l)
		}
	}
}

func TestAllMethodsSupportedByAMap(t *testing.T) {
	for _, featureMap := range []string{"arccos1", "linear"} {
		_, err := lab(t, "compare", waves(t), "--label", "y", "--methods", "all", "--map", featureMap, "--features", "3",
			"--candidates", "40", "--repeats", "1")
		if err != nil {
			t.Errorf("%s: %v", featureMap, err)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for args, says := range map[string]string{
		"compare":                              "want a file or --dataset",
		"compare --dataset rows":               `unknown data set "rows"`,
		"compare --dataset letter":             "lab fetch letter",
		"compare absent.csv --label y":         "no such file",
		"fetch rows":                           `unknown data set "rows"`,
		"compare x.csv --label y --map square": "",
	} {
		if _, err := lab(t, append(strings.Fields(args), dataDir(args, t)...)...); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q in it", args, err, says)
		}
	}
}

// dataDir returns an empty data folder for comparisons on a set.
func dataDir(args string, t *testing.T) []string {
	if strings.Contains(args, "--dataset") {
		return []string{"--data-dir", t.TempDir()}
	}
	return nil
}

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("output differs from %s (-update rewrites it):\n%s", path, got)
	}
}

func TestTables(t *testing.T) {
	for name, args := range map[string][]string{
		"all.golden":   {"testdata/rounds.txt"},
		"peers.golden": {"-only", "peers", "testdata/rounds.txt"},
	} {
		var out bytes.Buffer
		if err := run(args, &out); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		golden(t, name, out.String())
	}
}

// TestPageIsFilled has placeholders for all peers, for one benchmark, for a benchmark that was not
// run, and for a section that was not requested.
func TestPageIsFilled(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const begin, end = "<!-- benchtable: ", "\nold\n<!-- benchtable: end -->\n"
	write("# Title\n\n" + begin + "peers -->" + end + "Text.\n\n" +
		begin + `benchmarks ^scoring\.Transform/.*procs=1$ -->` + end +
		begin + `benchmarks ^training\. -->` + end + "\nThe rest.\n")
	for range 2 { // the second run must change nothing
		var out bytes.Buffer
		if err := run([]string{"-into", page, "testdata/rounds.txt"}, &out); err != nil || out.Len() > 0 {
			t.Fatalf("error %v, printed %q", err, &out)
		}
		golden(t, "page.golden", readFile(t, page))
	}
	for want, text := range map[string]string{
		"no placeholder for": "# Title\n",
		"no section":         begin + "other -->" + end,
		"error parsing":      begin + "peers ( -->" + end,
		"no placeholder":     begin + "benchmarks ^training -->" + end,
		"has no placeholder": begin + "peers -->\nno end\n",
		"no end of":          begin + "peers -->\nno end\n" + begin + "peers -->" + end,
	} {
		write(text)
		if err := run([]string{"-into", page, "testdata/rounds.txt"}, &bytes.Buffer{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
		if got := readFile(t, page); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestFaultsAreErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	broken := filepath.Join(t.TempDir(), "broken")
	os.WriteFile(empty, []byte("PASS\n"), 0o666)
	os.WriteFile(broken, []byte("BenchmarkA 1 many ns/op\n"), 0o666)
	for want, args := range map[string][]string{
		"no benchmark results": {empty},
		"no such file":         {"testdata/absent.txt"},
		"broken:1":             {broken},
		"want one of":          {"-only", "something", empty},
	} {
		if err := run(args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", args, err, want)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

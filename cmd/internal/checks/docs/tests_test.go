package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testLike = regexp.MustCompile(`^([a-z0-9]+)\.((?:Test|Fuzz|Benchmark)\w+)$`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
)

// Tests that pages name as `package.TestName` must exist: a promise without its test is not kept.
func TestTestsNamedOnPagesExist(t *testing.T) {
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range testFunc.FindAllSubmatch(source, -1) {
			known[filepath.Base(filepath.Dir(path))+"."+string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range readPages(t) {
		for _, span := range p.spans {
			if testLike.MatchString(span) {
				found++
				if !known[span] {
					t.Errorf("%s: no test %s", p.path, span)
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("%d tests found on all pages", found)
	}
}

var metricLike = regexp.MustCompile(`^eerf_\w+$`)

// Metrics that pages name must be served: telemetry compares this list with the served metrics.
func TestMetricsNamedOnPagesExist(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "telemetry/testdata/metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"eerf_row": true, "eerf_reason": true, "eerf_identity": true} // columns
	for line := range strings.Lines(string(source)) {
		name, _, _ := strings.Cut(line, " ")
		known[name] = true
	}
	for _, p := range readPages(t) {
		for _, span := range p.spans {
			if metricLike.MatchString(span) && !known[span] {
				t.Errorf("%s: no metric %s", p.path, span)
			}
		}
	}
}

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Limits of README.md: words of the whole file, including code, and lines of the first screen.
const (
	readmeWords = 700
	firstScreen = 50
)

// Limits of all pages: words in total, without the generated table of values from outside, and
// words of the page that people read in trouble.
const (
	allWords        = 50_000
	operationsWords = 7_300
)

// Additions to pages must be paid for with removals.
func TestPagesAreShort(t *testing.T) {
	total := 0
	for path := range readPages(t) {
		if path != "docs/outside-values.md" {
			total += wordsOf(t, path)
		}
	}
	if total > allWords {
		t.Errorf("all pages have %d words, more than %d", total, allWords)
	}
	if n := wordsOf(t, "docs/operations.md"); n > operationsWords {
		t.Errorf("docs/operations.md has %d words, more than %d", n, operationsWords)
	}
}

func wordsOf(t *testing.T, path string) int {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return len(strings.Fields(string(source)))
}

// The README can be read in a few minutes, and its first screen describes the project, how to try
// it, and its promises.
func TestReadmeIsShort(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(source))); n > readmeWords {
		t.Errorf("README.md has %d words, more than %d", n, readmeWords)
	}
	lines := strings.SplitAfter(string(source), "\n")
	screen := strings.Join(lines[:min(firstScreen, len(lines))], "")
	at := 0
	for _, text := range []string{"**For you if**", "**Not for you if**", "go run ./cmd/featurizer demo", "go test ./...",
		"docs/reliability.md#promises"} {
		next := strings.Index(screen[at:], text)
		if next < 0 {
			t.Fatalf("the first %d lines of README.md do not say %q, in this order", firstScreen, text)
		}
		at += next
	}
}

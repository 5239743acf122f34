package wire

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// docs/wire-formats.md has the version of every format, and none that does not exist.
func TestDocumentedVersionsMatchTheCode(t *testing.T) {
	want := map[string]string{}
	for _, d := range documents {
		want[d.key] = fmt.Sprint(d.version)
	}
	have := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(eerf\\.[a-z_]+)` \\|.*\\| ([0-9]+) \\|$")
	for _, match := range row.FindAllStringSubmatch(string(must(os.ReadFile(docPath))), -1) {
		have[match[1]] = match[2]
	}
	diff(t, want, have)
}

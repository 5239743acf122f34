package wire

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// docs/wire-formats.md has the version of every format, and none that does not exist.
func TestDocumentedVersionsAreTrue(t *testing.T) {
	keys := []string{KeySpec, KeyRequest, KeyProgress, KeyCheckpoint, KeyRefusal, KeySamples, KeyFeatureSet, KeyModel, KeyCurrent, KeyBlock, KeyFeatures, KeyRejectedRows}
	want := map[string]string{}
	for _, key := range keys {
		want[key] = fmt.Sprint(versionOf(key))
	}
	have := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(eerf\\.[a-z_]+)` \\|.*\\| ([0-9]+) \\|$")
	for _, match := range row.FindAllStringSubmatch(string(must(os.ReadFile(docPath))), -1) {
		have[match[1]] = match[2]
	}
	diff(t, want, have)
}

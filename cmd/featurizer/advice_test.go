package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/demo"
)

// TestAdviceOnFeaturesIsOne checks that demo and explore give the same advice on the number of
// features.
func TestAdviceOnFeaturesIsOne(t *testing.T) {
	for _, tt := range []struct {
		aboveNoise int
		learned    bool
		more       bool
	}{{2, false, false}, {449, false, false}, {450, false, true}, {500, false, true}, {0, true, true}} {
		result := demo.Result{Exploration: demo.Exploration{Features: 500, AboveNoise: tt.aboveNoise, Learned: tt.learned, SampleRows: 900}}
		var out strings.Builder
		printNext(&out, &result, false)
		if got := strings.Contains(out.String(), "--features 1000"); got != tt.more {
			t.Errorf("%+v: more features %v", tt, got)
		}
		note := keptBy(&result).note()
		if tt.more != (note == "") || !tt.more && !strings.Contains(note, fmt.Sprintf("%d of the 500 features are not above the noise level of 900 rows", 500-tt.aboveNoise)) {
			t.Errorf("%+v: %q", tt, note)
		}
	}
}

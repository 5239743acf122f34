package nearest

import (
	"strings"
	"testing"
)

func TestNameIsTheOneMeant(t *testing.T) {
	known := []string{"data", "delimiter", "features", "no-header", "rows"}
	for name, want := range map[string]string{
		"feature": "features", "delimeter": "delimiter", "dta": "data", "noheader": "no-header", "rows": "rows",
		"frobnicate": "", "r": "", "": "", strings.Repeat("x", 1000): "",
	} {
		if got := Name(name, known); got != want {
			t.Errorf("%.20s: %q, want %q", name, got, want)
		}
	}
}

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

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"same", "same", 0}} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

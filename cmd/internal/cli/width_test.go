package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		line, want string
		width      int
	}{
		{"", "", 10},
		{"short", "short", 10},
		{"one two three four", "one two\n  three\n  four", 9},
		{"σ × ½ is as wide", "σ × ½ is\n  as wide", 9},
		{"averyverylongword and more", "averyverylongword\n  and\n  more", 6},
	} {
		if have := Wrapped(c.line, c.width, "  "); have != c.want {
			t.Errorf("%q in %d: %q, want %q", c.line, c.width, have, c.want)
		}
	}
	if have := Width(&bytes.Buffer{}); have != plainWidth {
		t.Errorf("what is no terminal has %d, want %d", have, plainWidth)
	}
}

// A step right after another is shown although the bar is drawn seldom: it may be the long one.
func TestProgressNamesEveryStep(t *testing.T) {
	var out bytes.Buffer
	p := Progress{out: &out}
	for i, step := range []string{"plain", "linear", "adaptive"} {
		p.Show(step, int64(i), 10)
		p.Show(step, int64(i), 10)
	}
	p.Done()
	for _, step := range []string{"plain", "linear", "adaptive"} {
		if n := strings.Count(out.String(), step); n == 0 {
			t.Errorf("%s is not in %q", step, out.String())
		}
	}
	if !strings.Contains(out.String(), "adaptive  20%") {
		t.Errorf("the last step began a bar of its own: %q", out.String())
	}
}

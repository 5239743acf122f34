package cli

import (
	"bytes"
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

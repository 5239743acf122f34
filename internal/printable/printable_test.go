package printable

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for given, want := range map[string]string{
		"plain":                      "plain",
		"λ = 3, ½ ± 0.1 │ 20\u202f%": "λ = 3, ½ ± 0.1 │ 20\u202f%",
		"\x1b]0;TITLE\x07":           `\x1b]0;TITLE\x07`,
		"a\r\nb\tc\x7f":              `a\x0d\x0ab\x09c\x7f`,
		"\u009b2J":                   `\u009b2J`,
		"right\u202eleft":            `right\u202eleft`,
		"\xff\xc2":                   `\xff\xc2`,
		"\U000e0041":                 `\U000e0041`,
		"\ufffd":                     "\ufffd",
	} {
		if got := Text(given); got != want {
			t.Errorf("%q: %s, want %s", given, got, want)
		}
	}
}

func TestWriterKeepsLinesAndSplitRunes(t *testing.T) {
	const text = "a\tλ│\x1b[2J\n\u009bé\n"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		w := NewWriter(&b)
		for i := 0; i < len(text); i += size {
			part := text[i:min(i+size, len(text))]
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if want := "a\tλ│" + `\x1b[2J` + "\n" + `\u009bé` + "\n"; b.String() != want {
			t.Errorf("in parts of %d: %q, want %q", size, b.String(), want)
		}
	}
	if Raw(NewWriter(&strings.Builder{})) == nil {
		t.Error("no writer below")
	}
}

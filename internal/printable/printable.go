// Package printable makes text from outside safe to show on a terminal: names, classes and messages
// of other systems may contain escape sequences that hide, move or fake output.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text on one line: control characters, line breaks included, invalid bytes and
// invisible runes are replaced by Go escapes such as \x1b.
func Text(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	return string(appendPrintable(nil, []byte(s), hidden))
}

// hidden reports whether a rune is replaced in a line. Invalid bytes are decoded as utf8.RuneError.
func hidden(r rune) bool { return !unicode.IsGraphic(r) }

// hiddenInText is hidden for text of several lines.
func hiddenInText(r rune) bool { return hidden(r) && r != '\n' && r != '\t' }

func appendPrintable(dst, s []byte, hide func(rune) bool) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && size == 1, hide(r) && r < utf8.RuneSelf:
			dst = fmt.Appendf(dst, `\x%02x`, s[0])
		case hide(r) && r > 0xffff:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		case hide(r):
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}

// Writer passes text on to another writer, with everything but line breaks and tabs replaced as in
// [Text].
type Writer struct {
	raw  io.Writer
	rest []byte // an incomplete rune
}

// NewWriter returns a writer of printable text.
func NewWriter(raw io.Writer) *Writer { return &Writer{raw: raw} }

// Raw returns the writer below w, for output that is not text for people.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Writer); ok {
		return p.raw
	}
	return w
}

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.rest, p...)
	end := len(text)
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
		if start := len(text) - i; utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) {
				end = start
			}
			break
		}
	}
	printed := appendPrintable(make([]byte, 0, end), text[:end], hiddenInText)
	w.rest = append([]byte(nil), text[end:]...)
	if _, err := w.raw.Write(printed); err != nil {
		return 0, err
	}
	return len(p), nil
}

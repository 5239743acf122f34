package cli

import (
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// plainWidth is the width if the output is not a terminal or its width is unknown.
const plainWidth = 80

// Width returns how many characters a line has room for.
func Width(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return plainWidth
}

// Wrapped wraps a line between words at width; the lines after the first are indented.
func Wrapped(line string, width int, indent string) string {
	var b strings.Builder
	have := 0
	for i, word := range strings.Fields(line) {
		length := text.StringWidth(word)
		switch {
		case i == 0:
		case have+1+length > width:
			b.WriteString("\n" + indent)
			have = text.StringWidth(indent)
		default:
			b.WriteByte(' ')
			have++
		}
		b.WriteString(word)
		have += length
	}
	return b.String()
}

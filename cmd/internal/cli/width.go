package cli

import (
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/eerf-stream/eerf/internal/printable"
)

// plainWidth is the width if the output is not a terminal or its width is unknown.
const plainWidth = 80

// Width returns the width of a line in characters.
func Width(w io.Writer) int {
	if file, ok := printable.Raw(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return plainWidth
}

// Wrapped wraps a line between words at width and indents all lines but the first.
func Wrapped(line string, width int, indent string) string {
	lines := strings.Split(text.WrapSoft(line, width-len(indent)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"+indent)
}

package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/eerf-stream/eerf/internal/printable"
)

// Progress is a line on a terminal that names a long operation and its progress; elsewhere it is
// silent. Only one goroutine at a time may use it.
type Progress struct {
	out  io.Writer // nil = silent
	line string    // currently shown
}

// NewProgress returns progress on the command's error stream, if that is a terminal and quiet is
// false.
func NewProgress(c *cobra.Command, quiet bool) *Progress {
	if out := printable.Raw(c.ErrOrStderr()); !quiet && isTerminal(out) {
		return &Progress{out: out}
	}
	return &Progress{}
}

func isTerminal(w io.Writer) bool {
	file, ok := printable.Raw(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// emptyLine returns to the start of the terminal's line and erases it.
const emptyLine = "\r\x1b[K"

// Show names the operation and its progress; a total of 0 or less is unknown.
func (p *Progress) Show(what string, done, total int64) {
	line := printable.Text(what)
	if total > 0 {
		line = fmt.Sprintf("%s %d %%", line, 100*min(done, total)/total)
	}
	if p.out == nil || line == p.line {
		return
	}
	p.line = line
	fmt.Fprint(p.out, emptyLine, text.Snip(line, Width(p.out)-1, "…"))
}

// Done removes the line. It may be called repeatedly, and Show may follow.
func (p *Progress) Done() {
	if p.line != "" {
		fmt.Fprint(p.out, emptyLine)
		p.line = ""
	}
}

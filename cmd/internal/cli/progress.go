package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Progress shows the progress of long work on a terminal; elsewhere it is silent. Only one goroutine at a time may use it.
type Progress struct {
	out   io.Writer // nil = silent
	bar   *progressbar.ProgressBar
	what  string
	total int64
	shown time.Time
}

// NewProgress returns progress on the command's error stream, if that is a terminal and quiet is false.
func NewProgress(c *cobra.Command, quiet bool) *Progress {
	if out := c.ErrOrStderr(); !quiet && isTerminal(out) {
		return &Progress{out: out}
	}
	return &Progress{}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// between is the shortest time between two drawings of a bar, unless the text changes.
const between = 100 * time.Millisecond

// Show says what is being done and how far it is; a total of 0 or less is unknown. Work with the same total continues the bar under
// another name.
func (p *Progress) Show(what string, done, total int64) {
	if p.out == nil {
		return
	}
	same := p.what == what
	if p.bar == nil || (p.total > 0) != (total > 0) || !same && (total <= 0 || p.total != total) {
		p.Done()
		p.bar, p.total, same = p.newBar(what, total), total, false
	}
	p.what = what
	if total <= 0 {
		return // a spinner turns by itself
	}
	if same && time.Since(p.shown) < between {
		return
	}
	p.shown = time.Now()
	p.bar.Describe(what)
	if p.total != total {
		p.bar.ChangeMax64(total)
		p.total = total
	}
	_ = p.bar.Set64(min(done, total-1)) // a full bar would end itself
}

func (p *Progress) newBar(what string, total int64) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(total > 0),
	}
	if total <= 0 {
		total = -1
	}
	return progressbar.NewOptions64(total, options...)
}

// Done removes the bar. It may be called again, and Show may follow.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

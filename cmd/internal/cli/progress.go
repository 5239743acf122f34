package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Progress shows on a terminal how far long work has come; elsewhere it is silent. It belongs to one goroutine at a time.
type Progress struct {
	out   io.Writer // nil: silent
	bar   *progressbar.ProgressBar
	what  string
	total int64
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

// Show says what is being done and how far it is; a total of 0 or less is unknown.
func (p *Progress) Show(what string, done, total int64) {
	if p.out == nil {
		return
	}
	if p.bar == nil || p.what != what || (p.total > 0) != (total > 0) {
		p.Done()
		p.bar, p.what, p.total = p.newBar(what, total), what, total
	}
	if total <= 0 {
		return // a spinner turns by itself
	}
	if p.total != total {
		p.bar.ChangeMax64(total)
		p.total = total
	}
	_ = p.bar.Set64(min(done, total-1)) // a full bar would end itself
}

func (p *Progress) newBar(what string, total int64) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(total > 0),
	}
	if total <= 0 {
		total = -1
	}
	return progressbar.NewOptions64(total, options...)
}

// Done takes the bar away. It may be called again, and Show after it.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

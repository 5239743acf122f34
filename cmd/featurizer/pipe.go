package main

import (
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/internal/printable"
	"github.com/eerf-stream/eerf/stages/pipe"
)

// pipeFlags are the flags of `featurizer pipe`.
type pipeFlags struct {
	set, model, mode string
	threshold        cli.ThresholdFlags
	threads          int
}

// The modes of `featurizer pipe`.
const (
	pipeFeatures    = "features"
	pipePredictions = "predictions"
)

func newPipe() *cobra.Command {
	var f pipeFlags
	c := &cobra.Command{
		Use:   "pipe",
		Short: "Answer Arrow batches from standard input on standard output",
		Long: `pipe is the child process of workers and notebooks: it reads batches of rows, as one or several Arrow IPC streams,
from standard input, and answers each on standard output before it reads the next. The output is one stream. Its
schema has the version, the feature set and the kernel under "eerf.pipe", as JSON, with the limits of a batch; its first
batch is empty. Then each batch of rows has a batch of answers, one for each row, null for a row that the pipeline
would reject.

It ends with its input. Batches that are damaged, too large, or lack columns end it with an error.`,
		Example: `  featurizer pipe --model model.arrow < rows.arrows > predictions.arrows
  featurizer pipe --feature-set set.arrow --threads 1 < rows.arrows > features.arrows`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.set, "feature-set", "", "file of a feature set, to use alone or with --model")
	flags.StringVar(&f.model, "model", "", "file of a model; its feature set is in the same file or in --feature-set")
	flags.StringVar(&f.mode, "mode", "",
		"features (with a model also its predictions) or predictions; empty = predictions with --model, else features")
	f.threshold.Add(c)
	flags.IntVar(&f.threads, "threads", 0, "threads that map the rows of a batch; 0 = one for each processor")
	return c
}

func (f *pipeFlags) run(c *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	decision, err := f.threshold.Decision(c)
	if err != nil {
		return err
	}
	if decision.Threshold != 0 && f.model == "" {
		return cli.Usagef("--threshold and --cost require --model: features have no decisions")
	}
	pair, err := readPair(f.model, f.set, decision.Threshold)
	if err != nil {
		return err
	}
	if f.threads > 0 {
		runtime.GOMAXPROCS(f.threads)
	}
	signal.Ignore(syscall.SIGPIPE) // so that a closed output is an error with a message
	done := make(chan error, 1)
	go func() {
		done <- pipe.Answer(c.InOrStdin(), printable.Raw(c.OutOrStdout()), pipe.Options{
			Pair:     pair,
			Features: f.mode == pipeFeatures,
			Version:  cli.BuildOf(c.Root().Name()).Version,
			Threads:  f.threads,
		})
	}()
	select {
	case err := <-done:
		return err
	case <-c.Context().Done(): // a read of standard input cannot be interrupted; it ends with the process
		return c.Context().Err()
	}
}

// check sets the mode if it is empty, and reports flags that do not fit it.
func (f *pipeFlags) check() error {
	switch {
	case f.model == "" && f.set == "":
		return cli.Usagef("--feature-set or --model is required")
	case f.threads < 0:
		return cli.Usagef("--threads %d: expected 0 or more", f.threads)
	case f.mode == "" && f.model != "":
		f.mode = pipePredictions
	case f.mode == "":
		f.mode = pipeFeatures
	}
	switch {
	case f.mode != pipeFeatures && f.mode != pipePredictions:
		return cli.Usagef("--mode %s: expected %s or %s", f.mode, pipeFeatures, pipePredictions)
	case f.mode == pipePredictions && f.model == "":
		return cli.Usagef("--mode %s requires --model", f.mode)
	}
	return nil
}

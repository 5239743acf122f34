package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// demoFlags are the flags of `featurizer demo`.
type demoFlags struct {
	config       cli.ConfigFlags
	files        cli.FileFlags
	settings     cli.SettingFlags
	data, test   string
	testFraction float64
	rows         int64
	partitions   int
	message      int
	flip         bool
	keep         string
	json         bool
	verbose      bool
}

func newDemo() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run everything once, in one process, on an embedded broker",
		Long: `demo starts a broker inside the process, writes rows to its events topic, explores them, maps them to features,
trains a model, and measures it on test rows next to a model on the same number of plain random features. By
default the rows are generated: a sum of cosines with noise, the best case for the method. Nothing is left on
disk unless --keep names a folder.

--flip shows a relation that changes: in a stream of 400 generated rows a second, the largest cosine changes
its sign after 100 seconds. It prints the live error second by second, that is the error of predictions made
before anything learned from the rows. The seconds are simulated and pass faster.`,
		Example: `  featurizer demo
  featurizer demo --flip
  featurizer demo --data train.csv --label churned --features 200
  featurizer demo --data train.csv --test-file test.csv --label churned --candidates 2000 --sample 0.05`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", "file of labelled rows; empty = generated rows")
	flags.StringVar(&f.test, "test-file", "", "file of test rows; empty = a share of --data, by row hash")
	flags.Float64Var(&f.testFraction, "test-fraction", 0.25,
		"share of rows held back for testing if there is no test file")
	flags.Int64Var(&f.rows, "rows", 60_000, "rows to generate if there is no --data")
	flags.IntVar(&f.partitions, "partitions", 4, "partitions of the events topic")
	flags.IntVar(&f.message, "rows-per-message", 512, "rows in one message")
	flags.BoolVar(&f.flip, "flip", false, "print live errors of a generated stream whose relation changes")
	flags.StringVar(&f.keep, "keep", "", "new or empty folder for the broker's data")
	flags.BoolVar(&f.verbose, "verbose", false, "show the logs of the stages")
	f.config.Add(c)
	f.files.Add(c)
	f.settings.AddExploration(c)
	f.settings.AddTrain(c)
	cli.JSONFlag(c, &f.json)
	return c
}

// run completes the configuration, runs the demo and prints what it found.
func (f *demoFlags) run(c *cobra.Command) error {
	if err := f.check(c); err != nil {
		return err
	}
	loaded, err := f.load()
	if err != nil {
		return err
	}
	bar := cli.NewProgress(c, f.json || f.verbose)
	defer bar.Done()
	options, files, err := f.options(c, loaded, bar)
	if err != nil {
		return err
	}
	if f.flip {
		flipped, err := demo.Flip(c.Context(), options)
		bar.Done()
		if err != nil {
			return err
		}
		return cli.Print(c, f.json, flipped, printFlip)
	}
	result, err := demo.Run(c.Context(), options)
	bar.Done()
	if err != nil {
		return err
	}
	return cli.Print(c, f.json, f.summarize(result, files), func(w io.Writer, s demoSummary) {
		printDemo(w, s, result.Set, f.data == "")
	})
}

// demoSummary is the JSON output of a demo.
type demoSummary struct {
	setSummary
	Model         demo.Model              `json:"model"`
	RowsPerSecond map[meter.Stage]float64 `json:"rows_per_second"`
	Kept          string                  `json:"kept,omitempty"` // folder with the broker's data
}

func (f *demoFlags) summarize(r *demo.Result, files demoFiles) demoSummary {
	s := demoSummary{describeSet(r.Set), r.Model, r.RowsPerSecond, f.keep}
	warnings := r.Warnings
	if files.train != nil {
		s.Lineage.Columns = files.train.Columns(s.Lineage.Columns)
		warnings = append(files.train.ClassNotes(), warnings...)
	}
	s.explored(r.Seconds, warnings)
	if files.test != nil {
		for _, note := range files.test.Notes() {
			s.Warnings = append(s.Warnings, "of "+f.test+": "+note)
		}
	}
	return s
}

// check validates the flags before the configuration is read.
func (f *demoFlags) check(c *cobra.Command) error {
	switch {
	case f.testFraction <= 0 || f.testFraction >= 1:
		return cli.Usagef("--test-fraction %v: expected a number between 0 and 1", f.testFraction)
	case f.partitions < 1:
		return cli.Usagef("--partitions %d: expected 1 or more", f.partitions)
	case f.message < 1:
		return cli.Usagef("--rows-per-message %d: expected 1 or more", f.message)
	case f.rows < 100:
		return cli.Usagef("--rows %d: expected 100 or more", f.rows)
	case f.flip && slices.ContainsFunc(notWithFlip, c.Flags().Changed):
		return cli.Usagef("--flip generates its own rows and does not go with --%s", strings.Join(notWithFlip, ", --"))
	case f.data == "" && f.test != "":
		return cli.Usagef("--test-file requires --data")
	case f.data == "" && c.Flags().Changed("label"):
		return cli.Usagef("--label requires --data: the label of generated rows is %s", demo.SyntheticLabel)
	case f.data != "" && c.Flags().Changed("rows"):
		return cli.Usagef("--rows sets how many rows to generate and does not go with --data")
	case f.test != "" && c.Flags().Changed("test-fraction"):
		return cli.Usagef("--test-fraction does not go with --test-file")
	}
	return emptyDir(f.keep)
}

// notWithFlip lists the flags that describe rows, which --flip generates itself.
var notWithFlip = []string{"data", "rows", "rows-per-message", "test-file", "test-fraction"}

// emptyDir refuses a directory that is not empty, because the topics of an earlier run would be
// reused, and a directory that cannot be written. An empty name is accepted.
func emptyDir(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case os.IsNotExist(err):
		return keepFault(files.CheckTarget(dir)) // creates it for a moment
	case err != nil:
		return keepFault(err)
	case len(entries) > 0:
		return cli.Usagef("--keep %s: the directory is not empty", dir)
	}
	return keepFault(files.CheckTarget(filepath.Join(dir, "topics")))
}

// keepFault names the flag in an error.
func keepFault(err error) error {
	if err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	return nil
}

// load reads the configuration. A demo explores and trains however few rows there are.
func (f *demoFlags) load() (*config.Config, error) {
	defaults := map[string]any{"exploration.min_rows": "1", "train.min_rows": "1"}
	overrides := f.settings.Overrides()
	overrides["topics.partitions"] = fmt.Sprint(f.partitions)
	if f.data == "" {
		defaults["exploration.features"] = "100"
		defaults["exploration.candidates"] = "2000"
		defaults["exploration.sample_rate"] = "0.25"
		overrides["events.label"] = demo.SyntheticLabel
	} else { // consider all labels of a file, however long
		defaults["exploration.from"] = string(wire.FromEarliest)
	}
	return f.config.Load(defaults, overrides)
}

// demoFiles are the files that a demo reads; either may be nil.
type demoFiles struct{ train, test *cli.RowFile }

// options opens the files and completes the options of the demo.
func (f *demoFlags) options(
	c *cobra.Command,
	loaded *config.Config,
	bar *cli.Progress,
) (o demo.Options, opened demoFiles, err error) {
	o = demo.Options{
		TestFraction: f.testFraction, RowsPerMessage: f.message, Dir: f.keep, Logger: zap.NewNop(), Progress: bar.Show,
	}
	if f.verbose {
		o.Logger, err = cli.NewLogger(config.LogConfig{Level: "info", Format: config.LogConsole}, c.ErrOrStderr())
		if err != nil {
			return o, opened, err
		}
	}
	if f.data == "" {
		o.Settings = loaded.Stages
		o.Train = func() (events.RowReader, error) { return demo.Generate(loaded.Stages.Exploration.Seed, f.rows), nil }
		return o, opened, nil
	}
	events := &loaded.Stages.Events
	train, err := f.files.Open(f.data, 0, bar)
	if err != nil {
		return o, opened, err
	}
	defer train.Close()
	if err := train.Complete(events); err != nil {
		return o, opened, err
	}
	if f.test != "" {
		test, err := train.Like(f.test)
		if err != nil {
			return o, opened, err
		}
		if err := test.Check(events); err != nil {
			test.Close()
			return o, opened, err
		}
		test.Close()
		opened.test = test
		o.Test = test.Rows("reading " + f.test)
	}
	o.Settings = loaded.Stages
	o.Train = train.Rows("producing " + f.data)
	opened.train = train
	return o, opened, nil
}

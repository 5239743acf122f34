package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/compare/report"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/lab/methods"
	"github.com/eerf-stream/eerf/lab/sets"
)

// compareFlags are the flags of `lab compare`.
type compareFlags struct {
	*compare.Flags
	dataset, dir, test string
	rows               encoder.Options
	out                string
}

func newCompare() *cobra.Command {
	f := compareFlags{Flags: compare.NewFlags(methods.All()...)}
	c := &cobra.Command{
		Use:   "compare [FILE]",
		Short: "Compare all methods on a file or a public data set",
		Long: `compare is trainer compare with more methods, on a file or a public data set. The defaults for a data set
are the paper's settings. Methods:
` + f.MethodHelp(),
		Example: `  lab compare rows.csv --label churned --methods plain,orf,sorf,qmc,ses,leverage,lkrf
  lab compare --dataset letter --repeats 5 --methods all --out report`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, strings.Join(args, "")) },
	}
	flags := c.Flags()
	flags.StringVar(&f.dataset, "dataset", "", "public data set instead of a file: "+strings.Join(sets.Names(), ", "))
	addDir(c, &f.dir)
	flags.StringVar(&f.test, "test-file", "", "file of test rows; empty = a share of the file, chosen by the seed")
	flags.StringSliceVar(&f.rows.Label, "label", nil, "label column of the file")
	flags.StringSliceVar(&f.rows.Exclude, "exclude", nil, "comma-separated columns of the file that are not features")
	flags.StringVar(&f.rows.Task, "task", encoder.TaskAuto,
		"auto (numbers are a regression), regression or classification")
	flags.StringVar(&f.out, "out", "", "directory for report.html and results.json")
	f.Add(flags)
	return c
}

// table is a source of rows in memory.
type table interface {
	compare.Source
	Name() string
	Release()
}

func (f *compareFlags) run(c *cobra.Command, path string) error {
	if (path == "") == (f.dataset == "") {
		return errors.New("want a file or --dataset")
	}
	rows, err := f.open(c.Context(), c.Flags(), path)
	if err != nil {
		return err
	}
	defer rows.Release()
	if err := f.Complete(c.Context()); err != nil {
		return err
	}
	result, err := compare.Run(c.Context(), rows.Name(), rows, f.Options, func(what string, done, total int64) {
		fmt.Fprintf(c.ErrOrStderr(), "%d of %d: %s\n", done, total, what)
	})
	if result == nil {
		return err
	}
	result.Made, result.MethodsLeftOut = f.Made(c.CommandPath()+" "+path, "", c.Flags()), f.LeftOut
	if f.out != "" {
		err = errors.Join(err, report.Write(f.out, result))
	}
	write(c.OutOrStdout(), result)
	if failed := result.Failures(); len(failed) > 0 {
		return errors.Join(err, fmt.Errorf("some methods failed: %s", strings.Join(failed, "; ")))
	}
	return err
}

// open reads the rows of the data set or of the file.
func (f *compareFlags) open(ctx context.Context, flags *pflag.FlagSet, path string) (table, error) {
	if f.dataset != "" {
		set, err := sets.Lookup(f.dataset)
		if err != nil {
			return nil, err
		}
		f.takeDefaults(flags, set.Defaults)
		return set.Load(ctx, sets.Dir(f.dir))
	}
	var test func() (datasets.RowReader, error)
	if f.test != "" {
		test = reader(f.test)
	}
	f.OwnRows(flags)
	return datasets.ReadTable(ctx, path, f.rows, reader(path), test)
}

func reader(path string) func() (datasets.RowReader, error) {
	return func() (datasets.RowReader, error) { return files.Open(path, files.Options{}) }
}

// takeDefaults applies the settings of a data set for which no flag is set.
func (f *compareFlags) takeDefaults(flags *pflag.FlagSet, d sets.Defaults) {
	o := &f.Options
	for name, take := range map[string]func(){
		"features":      func() { o.Features = d.Features },
		"candidates":    func() { o.Candidates = d.Candidates },
		"sample":        func() { o.Sample = d.Sample },
		"sample-rows":   func() { o.SampleRows = d.SampleRows },
		"test-fraction": func() { o.TestFraction = max(d.TestFraction, o.TestFraction) },
		"standardize":   func() { o.Standardize = d.Standardize },
		"clip":          func() { o.Clip = d.Clip },
		"intercept":     func() { o.Intercept = d.Intercept },
	} {
		if !flags.Changed(name) {
			take()
		}
	}
}

// write writes the tables as text.
func write(w io.Writer, r *compare.Result) {
	fmt.Fprintln(w, report.Describe(r))
	for _, of := range r.Tables {
		fmt.Fprintf(w, "\nM = %d: %s; a constant has %s\n", of.M, r.Metric, report.Constant(of))
		cells := report.PageCells(r, of)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, strings.Join(cells.Header, "\t"))
		for i, row := range cells.Rows {
			fmt.Fprintln(t, strings.Join(append(row, cells.Remarks[i]), "\t"))
		}
		_ = t.Flush() // output to a terminal
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:", note)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/compare/report"
)

// compareFlags are the flags of `trainer compare`.
type compareFlags struct {
	methods *compare.Flags
	rows    rowFlags
	out     string
	json    bool
}

func newCompare() *cobra.Command {
	f := compareFlags{methods: compare.NewFlags()}
	c := &cobra.Command{
		Use:   "compare",
		Short: "Methods side by side on your own file: errors, times, plots",
		Long: `compare trains models on the features of several methods, on the same training rows, and measures them on the
same test rows: mean error with its standard error, the difference from plain random features, paired by seed, and
seconds. Repeat r = 0, 1, ... uses seed + r for the split, the candidates and the sample. Apart from the seconds,
results only depend on the rows, the flags and the seed.

Rows come from --data, and test rows from --test-file or a share of --data (--split). Nothing is chosen on test rows.
Lambda is chosen on training rows that chose no feature. An interrupt prints the results so far.

Methods (the first five run by default: the baselines, the best selection from drawn candidates, and the one that a
pipeline learns; --methods all runs every method that the other flags allow):
` + f.methods.MethodHelp(),
		Example: `  trainer compare --data rows.csv --label churned
  trainer compare --data rows.parquet --label price --task regression --features 50,100,200 --out report
  trainer compare --data train.csv --test-file test.csv --label churned --methods energy,correlation,plain-tuned`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.rows.add(c)
	f.methods.Add(c.Flags())
	c.Flags().StringVar(&f.out, "out", "", "directory for report.html and results.json")
	cli.JSONFlag(c, &f.json)
	return c
}

func (f *compareFlags) run(c *cobra.Command) error {
	if err := f.rows.check(c); err != nil {
		return err
	}
	f.methods.OwnRows(c.Flags())
	if err := f.methods.Complete(c.Context()); err != nil {
		return asUsage(err)
	}
	bar := cli.NewProgress(c, f.json)
	defer bar.Done()
	byTime := lastFifth
	if c.Flags().Changed("test-fraction") {
		byTime = f.methods.Options.TestFraction
	}
	rows, err := f.rows.read(c.Context(), bar, byTime)
	if err != nil {
		return err
	}
	defer rows.Release()
	if f.out != "" { // before the work
		if err := report.Prepare(f.out); err != nil {
			return err
		}
	}
	result, err := compare.Run(c.Context(), rows.Name(), rows, f.methods.Options, bar.Show)
	bar.Done()
	if result == nil {
		return asUsage(rows.withSplitHint(err))
	}
	cli.Warn(c, result.Warnings)
	result.Notes = append(rows.notes, result.Notes...)
	result.Data.Split = rows.split
	result.Data.Columns = f.rows.file.Columns(result.Data.Columns)
	result.Made = f.methods.Made(c.CommandPath(), c.Root().Version, c.Flags())
	result.MethodsLeftOut = f.methods.LeftOut
	if err == nil && len(result.Telltales) > 0 {
		result.Without, err = f.without(c.Context(), bar, byTime, telling(result.Telltales))
	}
	return errors.Join(f.show(c, result), err)
}

// without compares briefly without some columns. The result is nil where no other column is left.
func (f *compareFlags) without(
	ctx context.Context,
	bar *cli.Progress,
	byTime float64,
	columns []string,
) (*compare.Without, error) {
	defer bar.Done()
	rows := f.rows
	rows.exclude = slices.Concat(rows.exclude, columns)
	table, err := rows.read(ctx, bar, byTime)
	if err != nil {
		return nil, ctx.Err()
	}
	defer table.Release()
	o := f.methods.Options
	o.Methods, o.Repeats, o.Features = compare.Brief(o), 1, o.Features[len(o.Features)-1:]
	result, err := compare.Run(ctx, table.Name(), table, o, bar.Show)
	if err != nil {
		return nil, ctx.Err()
	}
	return result.LeastWithout(columns), nil
}

// show prints the result and writes the report.
func (f *compareFlags) show(c *cobra.Command, result *compare.Result) error {
	if f.out != "" {
		if err := report.Write(f.out, result); err != nil {
			return err
		}
	}
	if f.json {
		if err := cli.WriteJSON(c.OutOrStdout(), result); err != nil {
			return err
		}
	} else {
		printComparison(c.OutOrStdout(), result, f.out)
	}
	if failed := result.Failures(); len(failed) > 0 {
		return fmt.Errorf("some methods failed:\n  %s", strings.Join(failed, "\n  "))
	}
	return nil
}

// asUsage turns an error about options into a usage error.
func asUsage(err error) error {
	var fault *compare.OptionsError
	if errors.As(err, &fault) {
		return &cli.UsageError{Err: err}
	}
	return err
}

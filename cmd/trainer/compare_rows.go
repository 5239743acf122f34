package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/stages/events"
)

// rowFlags say where the rows of a comparison come from.
type rowFlags struct {
	files        cli.FileFlags
	data, test   string
	testFraction float64
	label        []string
	exclude      []string
	task         string
	transform    string
	dataset      string
	dir          string
	// file is the file of rows once it has been read, nil for a public data set.
	file *cli.RowFile
}

func (f *rowFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", "file of labelled rows")
	flags.StringVar(&f.test, "test-file", "", "file of test rows; empty = a share of --data, chosen by the seed")
	flags.Float64Var(&f.testFraction, "test-fraction", 0.33, "share of test rows where they are not given")
	flags.StringSliceVar(&f.label, "label", nil, "label column (several, with commas, for a regression with several outputs)")
	flags.StringSliceVar(&f.exclude, "exclude", nil, "columns, with commas, that are not features")
	flags.StringVar(&f.task, "task", encoder.TaskAuto, "auto (numbers are a regression), regression or classification")
	flags.StringVar(&f.transform, "label-transform", encoder.TransformNone, "what is learned of a regression label: "+strings.Join(encoder.LabelTransforms(), ", ")+"; errors are in units of the label")
	flags.StringVar(&f.dataset, "dataset", "", "public data set instead of --data: "+strings.Join(datasets.Names(), ", "))
	flags.StringVar(&f.dir, "data-dir", "", "directory of the public data sets; empty = $EERF_DATA")
	f.files.Add(c)
}

// check checks the flags alone, and returns the public data set if one is named.
func (f *rowFlags) check() (*datasets.Set, error) {
	switch {
	case f.dataset == "" && f.data == "":
		return nil, cli.Usagef("--data is needed: the file of rows to compare on; or --dataset, a public one")
	case f.dataset != "" && (f.data != "" || f.test != "" || len(f.label) > 0):
		return nil, cli.Usagef("--dataset has its own rows and label: it does not go with --data, --test-file or --label")
	case f.dataset != "" && f.transform != encoder.TransformNone:
		return nil, cli.Usagef("--dataset has its own label as it is: it does not go with --label-transform")
	case f.dataset == "" && f.dir != "":
		return nil, cli.Usagef("--data-dir goes with --dataset")
	case f.dataset == "":
		return nil, nil
	}
	set, err := datasets.Lookup(f.dataset)
	if err != nil {
		return nil, cli.Usagef("--dataset: %w", err)
	}
	return set, nil
}

// read reads all rows. notes are for the user.
func (f *rowFlags) read(ctx context.Context, set *datasets.Set, bar *cli.Progress) (table *datasets.Table, notes []string, err error) {
	if set == nil {
		return f.readFiles(ctx, bar)
	}
	if set.Notice != "" {
		notes = append(notes, set.Notice)
	}
	table, err = set.Load(ctx, datasets.Dir(f.dir), bar.Show)
	return table, notes, err
}

// readFiles reads the user's own rows.
func (f *rowFlags) readFiles(ctx context.Context, bar *cli.Progress) (table *datasets.Table, notes []string, err error) {
	file, err := f.files.Open(f.data, 0, bar)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	events := events.Config{Label: f.label, Exclude: f.exclude, Task: f.task, LabelTransform: f.transform}
	if err := file.Complete(&events); err != nil {
		return nil, nil, err
	}
	if err := events.Options().Validate(); err != nil {
		return nil, nil, &cli.UsageError{Err: err}
	}
	var test func() (datasets.RowReader, error)
	var other *cli.RowFile
	if f.test != "" {
		other, err = file.Like(f.test)
		if err != nil {
			return nil, nil, err
		}
		defer other.Close()
		if err := other.Check(&events); err != nil {
			return nil, nil, err
		}
		test = reader(other, "reading "+f.test)
	}
	table, err = datasets.ReadTable(ctx, f.data, events.Options(), reader(file, "reading "+f.data), test)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", f.data, err)
	}
	if f.file = file; other != nil {
		for _, note := range other.Notes() {
			notes = append(notes, "of "+f.test+": "+note)
		}
	}
	return table, notes, nil
}

// reader returns a function that opens the rows of a file.
func reader(file *cli.RowFile, what string) func() (datasets.RowReader, error) {
	open := file.Rows(what)
	return func() (datasets.RowReader, error) { return open() }
}

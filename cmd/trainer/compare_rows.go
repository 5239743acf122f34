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
	files      cli.FileFlags
	data, test string
	label      []string
	exclude    []string
	task       string
	transform  string
	// file is the file of rows once it has been read.
	file *cli.RowFile
}

func (f *rowFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", "file of labelled rows")
	flags.StringVar(&f.test, "test-file", "", "file of test rows; empty = a share of --data, chosen by the seed")
	flags.StringSliceVar(&f.label, "label", nil, "label column; several, comma-separated, for a regression with several outputs")
	flags.StringSliceVar(&f.exclude, "exclude", nil, "comma-separated columns that are not features")
	flags.StringVar(&f.task, "task", encoder.TaskAuto, "auto (numbers are a regression), regression or classification")
	flags.StringVar(&f.transform, "label-transform", encoder.TransformNone, "what is learned of a regression label: "+strings.Join(encoder.LabelTransforms(), ", ")+"; errors are in units of the label")
	f.files.Add(c)
}

// check checks the flags alone.
func (f *rowFlags) check() error {
	if f.data == "" {
		return cli.Usagef("--data is needed: the file of rows to compare on")
	}
	return nil
}

// read reads all rows. notes are for the user.
func (f *rowFlags) read(ctx context.Context, bar *cli.Progress) (table *datasets.Table, notes []string, err error) {
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

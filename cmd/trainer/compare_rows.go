package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/stages/events"
)

// rowFlags are the flags for the rows of a comparison.
type rowFlags struct {
	files      cli.FileFlags
	split      cli.SplitFlags
	data, test string
	label      []string
	include    []string
	exclude    []string
	group      string
	task       string
	transform  string
	file       *cli.RowFile // set by read
}

func (f *rowFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", "file of labelled rows")
	flags.StringVar(&f.test, "test-file", "", "file of test rows; empty = a share of --data, chosen by the seed")
	flags.StringSliceVar(&f.label, "label", nil,
		"label column; several, comma-separated, for a regression with several outputs")
	flags.StringSliceVar(&f.include, "include", nil,
		"comma-separated columns that are features even if they look like identifiers or text")
	flags.StringSliceVar(&f.exclude, "exclude", nil, "comma-separated columns that are not features")
	flags.StringVar(&f.group, "group", "", "column whose rows of one value are held out together; empty = equal rows are")
	flags.StringVar(&f.task, "task", encoder.TaskAuto, "auto (numbers are a regression), regression or classification")
	flags.StringVar(&f.transform, "label-transform", encoder.TransformNone, "transform of a regression label: "+
		strings.Join(encoder.LabelTransforms(), ", ")+"; errors are in units of the label")
	f.split.Add(c, "by the seed")
	f.files.Add(c)
}

// check checks the flags alone.
func (f *rowFlags) check(c *cobra.Command) error {
	if f.data == "" {
		return cli.Usagef("--data, the file of rows to compare on, is required")
	}
	if given := changedFlags(c, f.split.Names()); f.test != "" && len(given) > 0 {
		return cli.Usagef("%s: --test-file already gives the test rows; leave out one of the two", strings.Join(given, ", "))
	}
	return f.split.Check()
}

// comparedRows are rows to compare on.
type comparedRows struct {
	*datasets.Table
	late  []bool   // marks the test rows of a split by time; nil = no split by time
	split string   // description of that split
	notes []string // for the user
}

// Fixed implements [compare.Source].
func (r *comparedRows) Fixed() bool { return r.late != nil || r.Table.Fixed() }

// Split implements [compare.Source].
func (r *comparedRows) Split(o datasets.SplitOptions) (*datasets.Split, error) {
	if r.late == nil {
		return r.Table.Split(o)
	}
	return r.SplitAt(o, r.late)
}

// withSplitHint adds to a fault of the label that it may be due to a split by time.
func (r *comparedRows) withSplitHint(err error) error {
	var label *encoder.LabelError
	if r.late == nil || !errors.As(err, &label) && !errors.Is(err, compare.ErrOneLabel) {
		return err
	}
	return fmt.Errorf("%w; the test rows are %s: %s", err, r.split, useRandomSplit)
}

// lastFifth is the share of test rows of a split by time.
const lastFifth = 0.2

// splitByTime marks the last rows of the file as test rows if the split is by time.
func (f *rowFlags) splitByTime(
	ctx context.Context,
	rows *comparedRows,
	e events.Config,
	testFraction float64,
) error {
	split, note, err := f.split.Resolve(ctx, f.file, e, testFraction, 0)
	if err != nil || split.Rule.By != wire.SplitTime {
		return err
	}
	rows.late = make([]bool, rows.Rows())
	rows.split = split.Rule.String()
	for i := range rows.late {
		rows.late[i] = split.HeldOut(int64(i))
	}
	if note != "" {
		rows.notes = append(rows.notes, note)
	}
	return nil
}

// read reads all rows. testFraction is the share of a split by time.
func (f *rowFlags) read(ctx context.Context, bar *cli.Progress, testFraction float64) (rows *comparedRows, err error) {
	file, err := f.files.Open(f.data, 0, bar)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	events := events.Config{
		Columns: events.Columns{
			Label:          f.label,
			Include:        f.include,
			Exclude:        f.exclude,
			Group:          f.group,
			Task:           f.task,
			LabelTransform: f.transform,
		},
		Handling: events.Default().Handling,
	}
	if err := file.Complete(&events); err != nil {
		return nil, err
	}
	if err := events.Options().Validate(); err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	var test func() (datasets.RowReader, error)
	var other *cli.RowFile
	if f.test != "" {
		other, err = file.Like(f.test)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		if err := other.Check(&events); err != nil {
			return nil, err
		}
		test = reader(other, "reading "+f.test)
	}
	table, err := datasets.ReadTable(ctx, f.data, events.Options(), reader(file, "reading "+f.data), test)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.data, err)
	}
	if f.group != "" {
		table.GroupBy(f.group)
	}
	f.file, rows = file, &comparedRows{Table: table, notes: file.ClassNotes()}
	if other == nil {
		return rows, f.splitByTime(ctx, rows, events, testFraction)
	}
	for _, note := range other.Notes() {
		rows.notes = append(rows.notes, "of "+f.test+": "+note)
	}
	return rows, nil
}

// reader returns a function that opens the rows of a file.
func reader(file *cli.RowFile, what string) func() (datasets.RowReader, error) {
	open := file.Rows(what)
	return func() (datasets.RowReader, error) { return open() }
}

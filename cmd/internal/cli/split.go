package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/train"
)

// splitAuto selects a split by time if the rows are sorted by dates or times, else a random split.
const splitAuto = "auto"

// SplitFlags select the rows of a file that are held out to measure errors.
type SplitFlags struct{ by, column string }

// Add defines the flags on a command; random describes a random split of this command.
func (f *SplitFlags) Add(c *cobra.Command, random string) {
	c.Flags().StringVar(&f.by, "split", splitAuto, "rows held out to measure errors: random ("+random+
		"), time (the last rows, in the order of the file or of --time), "+
		"or auto: by time if the rows are sorted by a date or time, or by day")
	c.Flags().StringVar(&f.column, "time", "",
		"column of dates, times or numbers that orders rows for --split time; empty = the order of the file")
}

// Names returns the names of the flags.
func (f *SplitFlags) Names() []string { return []string{"split", "time"} }

// Check reports flags that do not go together.
func (f *SplitFlags) Check() error {
	switch f.by {
	case splitAuto, wire.SplitTime:
		return nil
	case wire.SplitRandom:
		if f.column != "" {
			return Usagef("--time %s requires --split time", f.column)
		}
		return nil
	}
	return Usagef("--split %s: expected %s", f.by,
		strings.Join([]string{splitAuto, wire.SplitRandom, wire.SplitTime}, ", "))
}

// rule returns the rule that holds out a fraction of the rows of a file.
func (f *SplitFlags) rule(ctx context.Context, file *RowFile, fraction float64, seed uint64) (wire.Split, error) {
	switch {
	case f.column != "" && !file.schema.HasField(f.column):
		return wire.Split{}, Usagef("%s has no column %q (--time); its columns are %s", file.path, f.column, file.columns())
	case f.column != "" || f.by == wire.SplitTime:
		return wire.Split{By: wire.SplitTime, Column: f.column, Fraction: fraction}, nil
	case f.by == splitAuto:
		column, err := offline.SortedTime(ctx, file.schema, file.Rows("looking for rows in order in "+file.path))
		if err != nil || column != "" {
			return wire.Split{By: wire.SplitTime, Column: column, Fraction: fraction}, err
		}
	}
	return wire.Split{By: wire.SplitRandom, Fraction: fraction, Seed: seed}, nil
}

// Resolve returns the split of a file whose columns have these uses, and a note if it was chosen
// because the file is sorted.
func (f *SplitFlags) Resolve(
	ctx context.Context,
	file *RowFile,
	e events.Config,
	fraction float64,
	seed uint64,
) (*train.FileSplit, string, error) {
	rule, err := f.rule(ctx, file, fraction, seed)
	if err != nil {
		return nil, "", err
	}
	split, err := file.Split(ctx, rule, e)
	found := rule.By == wire.SplitTime && f.by == splitAuto && f.column == ""
	if found && errors.Is(err, offline.ErrTooFewRows) {
		split, err = file.Split(ctx, wire.Split{By: wire.SplitRandom, Fraction: fraction, Seed: seed}, e)
		return split, fmt.Sprintf("the file is sorted by %q, but too few rows would judge a split by time; "+
			"errors are measured on random rows", rule.Column), err
	}
	if err != nil || !found {
		return split, "", err
	}
	return split, fmt.Sprintf("the file is sorted by %q, so errors are measured on its latest rows; "+
		"use --split random to measure on random rows", rule.Column), nil
}

// Split returns the rows that a rule holds out of the file.
func (r *RowFile) Split(ctx context.Context, rule wire.Split, e events.Config) (*train.FileSplit, error) {
	split, err := offline.Split(ctx, rule, e, r.Rows("choosing held-out rows of "+r.path))
	if err != nil {
		return nil, fmt.Errorf("split %s: %w", r.path, err)
	}
	return split, nil
}

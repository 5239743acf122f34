package offline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// Split returns the rows of a file that a rule holds out. For a rule by time it reads the whole
// file once and keeps 8 bytes for each row. Only labelled rows count for the share of a rule by
// time, and rows without a time are never held out. Rows with the same time are on the same side.
func Split(
	ctx context.Context,
	rule wire.Split,
	label []string,
	open func() (events.RowReader, error),
) (*train.FileSplit, error) {
	if rule.By != wire.SplitTime {
		held := func(row int64) bool { return training.HeldOut(rule.Seed, 0, row, 0, rule.Fraction) }
		return &train.FileSplit{Rule: rule, HeldOut: held}, nil
	}
	when, err := readTimes(ctx, rule.Column, label, open)
	if err != nil {
		return nil, err
	}
	first, err := when.first(rule)
	if err != nil {
		return nil, err
	}
	return &train.FileSplit{Rule: rule, HeldOut: func(row int64) bool { return when.at(row) >= first }}, nil
}

// rowTimes are the times of the rows of a file.
type rowTimes struct {
	all      []float64 // of every row, NaN without a time; nil = the numbers of the rows
	labelled []float64 // of rows with a label and a time
}

func (t *rowTimes) at(row int64) float64 {
	if t.all == nil {
		return float64(row)
	}
	return t.all[row]
}

// first returns the time from which on rows are held out.
func (t *rowTimes) first(rule wire.Split) (float64, error) {
	slices.Sort(t.labelled)
	n := len(t.labelled)
	if n == 0 {
		return 0, fmt.Errorf("%w: no row has a label and a time", ErrTooFewRows)
	}
	at := n - int(math.Round(rule.Fraction*float64(n)))
	if at < n {
		at, _ = slices.BinarySearch(t.labelled, t.labelled[at])
	}
	if at == 0 { // most rows have the first time
		for at < n && t.labelled[at] == t.labelled[0] {
			at++
		}
	}
	if held := n - at; held < training.MinHeldOutRows || at < training.MinHeldOutRows {
		return 0, fmt.Errorf("%w: %v would split %d rows with a label and a time into %d to learn from and %d held out; "+
			"each part needs at least %d", ErrTooFewRows, rule, n, at, held, training.MinHeldOutRows)
	}
	return t.labelled[at], nil
}

// ErrTooFewRows reports that one side of a split by time would have too few rows.
var ErrTooFewRows = errors.New("too few rows to split by time")

// readTimes reads the times of all rows, and the times of labelled rows.
func readTimes(
	ctx context.Context,
	column string,
	label []string,
	open func() (events.RowReader, error),
) (*rowTimes, error) {
	t, row := &rowTimes{}, int64(0)
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		if column != "" {
			values, err := timesOf(batch, column)
			if err != nil {
				return err
			}
			t.all = append(t.all, values...)
		}
		for i := range batch.NumRows() {
			if at := t.at(row + i); !math.IsNaN(at) && labelled(batch, label, int(i)) {
				t.labelled = append(t.labelled, at)
			}
		}
		row += batch.NumRows()
		return nil
	})
	return t, err
}

// labelled reports whether a row has a value in every label column. The value may still turn out to
// be unusable.
func labelled(batch arrow.Record, label []string, row int) bool {
	for _, name := range label {
		if at := batch.Schema().FieldIndices(name); len(at) > 0 && batch.Column(at[0]).IsNull(row) {
			return false
		}
	}
	return true
}

// Without returns a reader of the rows that a split does not hold out.
func Without(split *train.FileSplit, open func() (events.RowReader, error)) func() (events.RowReader, error) {
	return func() (events.RowReader, error) {
		reader, err := open()
		if err != nil {
			return nil, err
		}
		return &remaining{RowReader: reader, split: split}, nil
	}
}

// remaining reads the rows that are not held out.
type remaining struct {
	events.RowReader
	split *train.FileSplit
	row   int64 // number of the next row
}

// Next implements [events.RowReader].
func (r *remaining) Next() (arrow.Record, error) {
	for {
		batch, err := r.RowReader.Next()
		if err != nil {
			return nil, err
		}
		rows := make([]int32, 0, batch.NumRows())
		for i := range batch.NumRows() {
			if !r.split.HeldOut(r.row + i) {
				rows = append(rows, int32(i))
			}
		}
		r.row += batch.NumRows()
		if len(rows) == int(batch.NumRows()) {
			return batch, nil
		}
		part, err := events.TakeRows(batch, rows, nil)
		batch.Release()
		if err != nil {
			return nil, fmt.Errorf("hold rows out: %w", err)
		}
		if len(rows) > 0 {
			return part, nil
		}
		part.Release()
	}
}

// Close implements io.Closer.
func (r *remaining) Close() error { return events.CloseReader(r.RowReader) }

package offline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// Split returns the rows of a file that a rule holds out. It reads the whole file once and keeps 8
// bytes for each row, twice as many for a rule by time. Rows with equal identities are on the same
// side. A rule that does not say what identifies a row gets an identity that fits the rows, see
// [rowid.Rule.Decide].
//
// A rule by time holds out the last rows, except rows with the identity of an earlier row. Only
// labelled rows count for its share, and rows without a time are never held out. Rows with the same
// time are on the same side.
func Split(
	ctx context.Context,
	rule wire.Split,
	e events.Config,
	open func() (events.RowReader, error),
) (*train.FileSplit, error) {
	ids, when := newRowIdentities(rule.Identity, e), &rowTimes{}
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		ids.add(batch)
		if rule.By == wire.SplitTime {
			return when.add(rule.Column, e.Label, batch)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rule.Identity = ids.decide()
	if rule.By != wire.SplitTime {
		held := func(row int64) bool { return training.HeldOut(rule.Seed, ids.all[row], rule.Fraction) }
		return &train.FileSplit{Rule: rule, HeldOut: held, Copies: ids.copies}, nil
	}
	first, err := when.first(rule)
	if err != nil {
		return nil, err
	}
	held, err := heldOutByTime(when, ids, first, rule)
	if err != nil {
		return nil, err
	}
	return &train.FileSplit{Rule: rule, HeldOut: func(row int64) bool { return held[row] }, Copies: ids.copies}, nil
}

// heldOutByTime marks the rows from a time on that have the identity of no other row.
func heldOutByTime(when *rowTimes, ids *rowIdentities, first float64, rule wire.Split) ([]bool, error) {
	held, earlier := make([]bool, len(ids.all)), map[uint64]struct{}{}
	for row := range held {
		held[row] = when.at(int64(row)) >= first
		if !held[row] && !rule.Identity.ByPlace() {
			earlier[ids.all[row]] = struct{}{}
		}
	}
	left := 0
	for row := range held {
		if _, copied := earlier[ids.all[row]]; copied {
			held[row] = false
		}
		if held[row] {
			left++
		}
	}
	if left < training.MinHeldOutRows {
		return nil, fmt.Errorf("%w: among the last rows only %d have a %v that no earlier row has, at least %d are needed",
			ErrTooFewRows, left, rule.Identity, training.MinHeldOutRows)
	}
	return held, nil
}

// rowIdentities are the identities of the rows of a file.
type rowIdentities struct {
	rule    rowid.Rule // of the identities in all
	hasher  *rowid.Hasher
	counter *rowid.Counter // nil if the rule is final
	all     []uint64       // of every row
	copies  float64        // share of rows with the content of an earlier row, if rows are identified by content
}

// newRowIdentities prepares for the identity of a rule. If it names none, that is the group column,
// or the content until all rows are known.
func newRowIdentities(given rowid.Rule, e events.Config) *rowIdentities {
	r := &rowIdentities{rule: given}
	if given.By == "" {
		content := rowid.ContentOf(e.Features, e.Exclude, e.Passthrough, e.Label)
		if r.rule = content.Decide(1, 1, e.Group); r.rule.By == rowid.Content {
			r.counter = rowid.NewCounter(content)
		}
	}
	r.hasher = rowid.NewHasher(r.rule)
	return r
}

func (r *rowIdentities) add(batch arrow.Record) {
	first := int64(len(r.all))
	ids := r.hasher.Identities(batch, nil, func(row int32) uint64 { return placeOf(first + int64(row)) })
	r.all = append(r.all, ids...)
	for _, id := range ids {
		if r.counter != nil {
			r.counter.AddIdentity(id)
		}
	}
}

// decide returns the final rule.
func (r *rowIdentities) decide() rowid.Rule {
	if r.counter != nil {
		counter := r.counter
		r.rule, r.counter = counter.Decide(""), nil
		if r.rule.By == rowid.Content {
			r.copies = counter.Copies(1)
		}
		for row := range r.all {
			if r.rule.ByPlace() {
				r.all[row] = placeOf(int64(row))
			}
		}
	}
	return r.rule
}

// placeOf returns the identity of the place of a row of a file.
func placeOf(row int64) uint64 { return rowid.PlaceOf(0, row, 0) }

// rowTimes are the times of the rows of a file.
type rowTimes struct {
	all      []float64 // of every row, NaN without a time; nil = the numbers of the rows
	labelled []float64 // of rows with a label and a time
	rows     int64     // so far
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

// add adds the times of the next rows.
func (t *rowTimes) add(column string, label []string, batch arrow.Record) error {
	if column != "" {
		values, err := timesOf(batch, column)
		if err != nil {
			return err
		}
		t.all = append(t.all, values...)
	}
	for i := range batch.NumRows() {
		if at := t.at(t.rows + i); !math.IsNaN(at) && labelled(batch, label, int(i)) {
			t.labelled = append(t.labelled, at)
		}
	}
	t.rows += batch.NumRows()
	return nil
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

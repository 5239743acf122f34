package datasets

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
)

// Table holds the rows of files in memory, as they were read.
type Table struct {
	name    string
	options encoder.Options // includes the classes of all training rows
	hint    string          // a warning about the label, usually ""
	fault   error           // the reason why the label cannot be learned, or nil
	records []arrow.Record  // training rows first, if the split is fixed
	rows    int
	rule    rowid.Rule
	copies  float64  // share of rows that equal an earlier row
	ids     []uint64 // identities of the rows
	// firstTest is the number of the first test row; 0 if the seed splits.
	firstTest int
}

// RowReader returns rows record by record, and io.EOF at the end. [ReadTable] releases the records,
// and closes the reader if it is an [io.Closer].
type RowReader interface {
	Next() (arrow.Record, error)
}

// ReadTable reads rows. The options set label, features and task; standardization and clip are
// options of the split. test is nil if the seed chooses the test rows.
func ReadTable(
	ctx context.Context,
	name string,
	o encoder.Options,
	train, test func() (RowReader, error),
) (*Table, error) {
	if len(o.Label) == 0 {
		return nil, errors.New("no label column")
	}
	t := &Table{name: name, options: o}
	if err := t.read(ctx, train, test); err != nil {
		return nil, err
	}
	return t, nil
}

// read fills the table from its readers.
func (t *Table) read(ctx context.Context, train, test func() (RowReader, error)) error {
	err := t.readPart(ctx, train)
	if err == nil && t.rows == 0 {
		err = errors.New("no rows")
	}
	if err == nil && test != nil {
		t.firstTest = t.rows
		err = t.readPart(ctx, test)
		if err == nil && t.rows == t.firstTest {
			err = errors.New("no test rows")
		}
	}
	if err != nil {
		t.Release()
		return err
	}
	t.learnLabels()
	t.identify("")
	return nil
}

// GroupBy keeps rows with the same value in a column on the same side of a split. Without it, these
// are rows with equal values in all columns, see [rowid.Rule.Decide].
func (t *Table) GroupBy(column string) { t.identify(column) }

// Identity returns what identifies a row.
func (t *Table) Identity() rowid.Rule { return t.rule }

// identify computes the identities of the rows.
func (t *Table) identify(group string) {
	o := t.options
	content := rowid.ContentOf(o.Features, o.Exclude, o.Passthrough, o.Label)
	counter := rowid.NewCounter(content)
	for _, rec := range t.records {
		if group != "" {
			break
		}
		counter.Add(rec)
	}
	t.rule, t.copies = counter.Decide(group), 0
	if t.rule.By == rowid.Content {
		t.copies = counter.Copies(1)
	}
	hasher := rowid.NewHasher(t.rule)
	t.ids = make([]uint64, 0, t.rows)
	for _, rec := range t.records {
		first := int64(len(t.ids))
		t.ids = append(t.ids, hasher.Identities(rec, nil, func(row int32) uint64 {
			return rowid.PlaceOf(0, first+int64(row), 0)
		})...)
	}
}

// learnLabels reads all labels that a training part may contain, because a class may occur only in
// the last rows, and a split may put it into the test part.
func (t *Table) learnLabels() {
	labels, rows := encoder.NewLabelCounter(t.options), 0
	for _, rec := range t.records {
		if t.Fixed() && rows >= t.firstTest {
			break
		}
		labels.Add(rec)
		rows += int(rec.NumRows())
	}
	kind, ok := encoder.LabelKind(t.options, t.records[0].Schema())
	t.fault = labels.Unusable()
	if !ok || t.fault != nil {
		return
	}
	t.fault = labels.Fault(kind)
	if t.fault != nil {
		return
	}
	t.hint = labels.Hint(kind)
	if len(t.options.Classes) == 0 {
		t.options.FindClasses(labels, kind)
	}
}

// readPart appends the rows of one reader.
func (t *Table) readPart(ctx context.Context, open func() (RowReader, error)) (err error) {
	reader, err := open()
	if err != nil {
		return err
	}
	if closer, ok := reader.(io.Closer); ok {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		t.records = append(t.records, rec)
		t.rows += int(rec.NumRows())
	}
}

// Name is the name of the table.
func (t *Table) Name() string { return t.name }

// Rows is the number of rows, usable or not.
func (t *Table) Rows() int { return t.rows }

// Fixed reports whether the table has its own test rows.
func (t *Table) Fixed() bool { return t.firstTest > 0 }

// Release frees the rows. Splits stay valid.
func (t *Table) Release() {
	for _, rec := range t.records {
		rec.Release()
	}
	t.records = nil
}

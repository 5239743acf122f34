package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Table holds the rows of a set or of a user's files in memory, as they were read.
type Table struct {
	name    string
	options encoder.Options // with the classes of all rows, unless they were given
	hint    string          // what a person should know about the label, usually ""
	fault   error           // why the label cannot be learned; nil = it can
	records []arrow.Record  // training rows first, if the split is fixed
	rows    int
	// firstTest is the number of the first test row; 0 if the seed splits.
	firstTest int
	// masks mark the test rows of each published split; nil if there are none.
	masks [][]bool
}

// Watch is called with the name of what is being read and the progress in bytes. It may be nil.
type Watch func(what string, done, total int64)

// Load reads the set from the files in dir. An error names the file, and the line if it is text; an error about
// missing files says how to get them.
func (s *Set) Load(ctx context.Context, dir string, watch Watch) (*Table, error) {
	if err := s.checkThere(dir); err != nil {
		return nil, err
	}
	from, err := s.open(folder(dir))
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", s.Name, err)
	}
	t := &Table{name: s.Name, options: from.options, firstTest: from.firstTest}
	if err := t.read(ctx, from.train, from.test, watch); err != nil {
		return nil, fmt.Errorf("data set %s: %w", s.Name, err)
	}
	if from.masks != nil {
		if err := t.readMasks(ctx, from.masks); err != nil {
			t.Release()
			return nil, fmt.Errorf("data set %s: %w", s.Name, err)
		}
	}
	return t, nil
}

// ReadTable reads a user's rows. Label, features and task are those of the options; the split decides how rows are
// standardized and clipped. test is nil if the seed chooses the test rows.
func ReadTable(ctx context.Context, name string, o encoder.Options, train, test func() (RowReader, error)) (*Table, error) {
	if len(o.Label) == 0 {
		return nil, errors.New("no label column")
	}
	t := &Table{name: name, options: o}
	if err := t.read(ctx, train, test, nil); err != nil {
		return nil, err
	}
	return t, nil
}

// read fills the table from its readers.
func (t *Table) read(ctx context.Context, train, test func() (RowReader, error), watch Watch) error {
	err := t.readPart(ctx, train, watch)
	if err == nil && t.rows == 0 {
		err = errors.New("there are no rows")
	}
	if err == nil && test != nil {
		t.firstTest = t.rows
		if err = t.readPart(ctx, test, watch); err == nil && t.rows == t.firstTest {
			err = errors.New("there are no test rows")
		}
	}
	if err == nil && t.firstTest > 0 && t.rows <= t.firstTest {
		err = fmt.Errorf("%d rows, want more than %d: the test rows are those from row %d on", t.rows, t.firstTest, t.firstTest)
	}
	if err != nil {
		t.Release()
		return err
	}
	t.learnLabels()
	return nil
}

// learnLabels reads all labels that may be in a training part: a class may only be in the last rows, and a split may
// put it into the test part.
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
	if t.fault = labels.Unusable(); !ok || t.fault != nil {
		return
	}
	if t.fault = labels.Fault(kind); t.fault != nil {
		return
	}
	if t.hint = labels.Hint(kind); len(t.options.Classes) == 0 {
		t.options.Classes = labels.Classes(kind)
	}
}

// readPart appends the rows of one reader.
func (t *Table) readPart(ctx context.Context, open func() (RowReader, error), watch Watch) (err error) {
	reader, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeReader(reader)) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p, ok := reader.(progress); ok && watch != nil {
			done, total := p.Progress()
			watch("reading "+t.name, done, total)
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

// Name is the name of the set or file.
func (t *Table) Name() string { return t.name }

// Rows is the number of rows, whatever happens to them in a split.
func (t *Table) Rows() int { return t.rows }

// Fixed says that the table has its own test rows.
func (t *Table) Fixed() bool { return t.firstTest > 0 }

// Release frees the rows. Splits stay valid.
func (t *Table) Release() {
	for _, rec := range t.records {
		rec.Release()
	}
	t.records = nil
}

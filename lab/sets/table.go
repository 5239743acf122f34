package sets

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/datasets"
)

// Table has the rows of a set in memory.
type Table struct {
	*datasets.Table
	// masks mark the test rows of each published split; nil without published splits.
	masks [][]bool
}

// Load reads the set from the files in dir. An error names the file, and the line if it is text; an
// error about missing files names the command that downloads them.
func (s *Set) Load(ctx context.Context, dir string) (*Table, error) {
	table, err := s.load(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", s.Name, err)
	}
	return table, nil
}

func (s *Set) load(ctx context.Context, dir string) (*Table, error) {
	if err := s.checkThere(dir); err != nil {
		return nil, err
	}
	from := s.open(folder(dir))
	train, test := from.train, from.test
	if from.firstTest > 0 {
		train, test = rowsOf(from.train, 0, from.firstTest), rowsOf(from.train, from.firstTest, 1<<62)
	}
	rows, err := datasets.ReadTable(ctx, s.Name, from.options, train, test)
	if err != nil {
		return nil, err
	}
	table := &Table{Table: rows}
	if from.masks != nil {
		if err := table.readMasks(ctx, from.masks); err != nil {
			table.Release()
			return nil, err
		}
	}
	return table, nil
}

// Split splits the rows like package datasets, or by the published split with the number of the
// seed.
func (t *Table) Split(o datasets.SplitOptions) (*datasets.Split, error) {
	if t.masks == nil {
		return t.Table.Split(o)
	}
	return t.SplitAt(o, t.mask(o.Seed))
}

// part is a reader of the rows from first up to next of another.
type part struct {
	RowReader
	at, first, next int64
}

// rowsOf opens a part of the rows of a reader.
func rowsOf(open func() (RowReader, error), first, next int) func() (RowReader, error) {
	return func() (RowReader, error) {
		reader, err := open()
		if err != nil {
			return nil, err
		}
		return &part{RowReader: reader, first: int64(first), next: int64(next)}, nil
	}
}

// Next returns the next rows of the part.
func (p *part) Next() (arrow.Record, error) {
	for p.at < p.next {
		rec, err := p.RowReader.Next()
		if err != nil {
			return nil, err
		}
		from, to := max(p.first-p.at, 0), min(p.next-p.at, rec.NumRows())
		p.at += rec.NumRows()
		if from < to {
			defer rec.Release()
			return rec.NewSlice(from, to), nil
		}
		rec.Release()
	}
	return nil, io.EOF
}

// Close closes the underlying reader.
func (p *part) Close() error { return closeReader(p.RowReader) }

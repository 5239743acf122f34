package files

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/internal/testdata"
)

// counts is what one pass over a file sees.
type counts struct {
	schema       *arrow.Schema
	rows         int
	rowsWithNull int
	labels       map[int64]int
	nonZero      int
}

func count(t *testing.T, name string, o Options) counts {
	t.Helper()
	r, err := Open(testdata.Path(t, name), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := counts{schema: r.Schema(), labels: make(map[int64]int)}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			t.Fatal(err)
		}
		c.add(rec)
		rec.Release()
	}
}

func (c *counts) add(rec arrow.Record) {
	c.rows += int(rec.NumRows())
	for i := range int(rec.NumRows()) {
		for _, column := range rec.Columns() {
			if column.IsNull(i) {
				c.rowsWithNull++
				break
			}
		}
	}
	if lists, ok := rec.Column(int(rec.NumCols()) - 1).(*array.FixedSizeList); ok {
		for _, v := range lists.ListValues().(*array.Float32).Float32Values() {
			if v != 0 {
				c.nonZero++
			}
		}
		for _, label := range rec.Column(0).(*array.Int64).Int64Values() {
			c.labels[label]++
		}
	}
}

func TestLetters(t *testing.T) {
	c := count(t, "letter-recognition.data.gz", Options{Format: FormatCSV, NoHeader: true})
	if c.rows != 20000 || c.schema.NumFields() != 17 || c.rowsWithNull != 0 {
		t.Fatalf("%d rows of %d columns, %d with nulls", c.rows, c.schema.NumFields(), c.rowsWithNull)
	}
	for i, f := range c.schema.Fields() {
		want := arrow.INT64
		if i == 0 {
			want = arrow.STRING
		}
		if f.Name != numberedName(i) || f.Type.ID() != want {
			t.Errorf("column %d is %s %s", i, f.Name, f.Type)
		}
	}
}

func TestNewsPopularity(t *testing.T) {
	c := count(t, "OnlineNewsPopularity.csv.gz", Options{})
	if c.rows != 39644 || c.schema.NumFields() != 61 || c.rowsWithNull != 0 {
		t.Fatalf("%d rows of %d columns, %d with nulls", c.rows, c.schema.NumFields(), c.rowsWithNull)
	}
	for i, f := range c.schema.Fields() {
		if f.Name != strings.TrimSpace(f.Name) || (f.Type.ID() == arrow.STRING) != (i == 0) {
			t.Errorf("column %d is %q %s", i, f.Name, f.Type)
		}
	}
	if first, last := c.schema.Field(0).Name, c.schema.Field(60); first != "url" || last.Name != "shares" || last.Type.ID() != arrow.INT64 && last.Type.ID() != arrow.FLOAT64 {
		t.Errorf("first column %q, last %q %s", first, last.Name, last.Type)
	}
}

func TestAdultAsCSV(t *testing.T) {
	c := count(t, "adult.data.gz", Options{Format: FormatCSV, NoHeader: true})
	if c.rows != 32561 || c.schema.NumFields() != 15 || c.rowsWithNull != 2399 {
		t.Fatalf("%d rows of %d columns, %d with nulls", c.rows, c.schema.NumFields(), c.rowsWithNull)
	}
	numbers := map[int]bool{0: true, 2: true, 4: true, 10: true, 11: true, 12: true}
	for i, f := range c.schema.Fields() {
		if (f.Type.ID() == arrow.INT64) != numbers[i] {
			t.Errorf("column %d is %s", i, f.Type)
		}
	}
}

func TestActivityRecordingsAreSeparatedByBlanks(t *testing.T) {
	c := count(t, "uci_har/X_train.txt.gz", Options{Format: FormatCSV, NoHeader: true, Delimiter: ' '})
	if c.rows != 7352 || c.schema.NumFields() != 561 || c.schema.Field(560).Type.ID() != arrow.FLOAT64 {
		t.Errorf("%d rows of %d columns", c.rows, c.schema.NumFields())
	}
}

func TestAdultTestFileNamesItsOddFirstLine(t *testing.T) {
	path := testdata.Path(t, "adult.test.gz")
	_, err := Open(path, Options{Format: FormatCSV, NoHeader: true})
	wantError(t, err, path, 2, "15 fields where the first row has 1")
}

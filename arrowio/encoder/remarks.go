package encoder

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// Remark is a value of a row that is not encoded as it is: it is missing and was imputed, or it is a category without a
// dimension of its own.
type Remark struct {
	// Row is the row's number within the record.
	Row    int
	Column string
	// Unseen is the category; nil if the value is missing.
	Unseen *string
	// Expected says that calibration saw the column without values too, so that models know what that means.
	Expected bool
}

// Remarks lists what [Counts] counts as imputed and as unseen categories in a record that [Encoder.Encode] has accepted,
// row by row.
func (e *Encoder) Remarks(rec arrow.Record) []Remark {
	var found []Remark
	for i := range e.Columns {
		c := &e.Columns[i]
		a := rec.Column(rec.Schema().FieldIndices(c.Name)[0])
		if c.Kind == Category {
			found = c.unseen(found, a)
			continue
		}
		for row, missing := range e.missing(c, a) {
			if missing {
				found = append(found, Remark{Row: row, Column: c.Name, Expected: c.Missing})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Remark) int { return a.Row - b.Row })
	return found
}

// unseen adds the remarks on a category column.
func (c *Column) unseen(found []Remark, a arrow.Array) []Remark {
	known, t := numbered(c.Categories), textsOf(a)
	for row := range a.Len() {
		value, ok := t.at(row)
		if _, seen := known[value]; ok && seen {
			continue
		}
		remark := Remark{Row: row, Column: c.Name, Expected: ok || c.Missing}
		if ok {
			remark.Unseen = &value
		}
		found = append(found, remark)
	}
	return found
}

// missing returns which values of a column other than a category are imputed.
func (e *Encoder) missing(c *Column, a arrow.Array) []bool {
	rows := picked{n: a.Len()}
	missing, width := make([]bool, rows.n), 1
	if c.Kind == Vector {
		width = c.Width
	}
	values, null := make([]float64, rows.n*width), make([]bool, rows.n*width)
	switch in := inputOf(a, c.Kind); {
	case c.Kind == Bool:
		codes := make([]int32, rows.n)
		loadBools(codes, a, rows, 0, 1)
		for i, code := range codes {
			missing[i] = code == nullCode
		}
		return missing
	case isTime(c.Kind):
		loadTimes(values, null, a, rows, c.Kind)
	case in.parsed:
		loadParsed(values, null, a, rows, parseNumber)
	default:
		markNulls(null, a, rows, width)
		if _, nothing := a.DataType().(*arrow.NullType); !nothing {
			loadNumbers(values, a, rows)
		}
	}
	for i := range null {
		missing[i/width] = missing[i/width] || null[i] || e.NaN == NaNMissing && math.IsNaN(values[i])
	}
	return missing
}

package encoder

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// Remark is a value that is not encoded as such: it is missing and was imputed, or it is a category
// without a dimension of its own.
type Remark struct {
	// Row is the row's number within the request.
	Row    int
	Column string
	Unseen string // the category; empty if the value is missing
}

// RemarkList is remarks of one sort, row by row. A request may give any number of them: the first
// rows' are kept.
type RemarkList struct {
	Remarks []Remark
	Columns []string // of all remarks
}

// mostRemarks bounds the remarks that are kept; an answer has room for fewer.
const mostRemarks = 256

// add adds the remark of a row, whose column comes last.
func (l *RemarkList) add(r Remark) {
	if n := len(l.Columns); n == 0 || l.Columns[n-1] != r.Column {
		if at := slices.Index(l.Columns, r.Column); at >= 0 { // of an earlier record
			l.Columns = slices.Delete(l.Columns, at, at+1)
		}
		l.Columns = append(l.Columns, r.Column)
	}
	l.Remarks = append(l.Remarks, r)
	if len(l.Remarks) >= 2*mostRemarks {
		l.settle()
	}
}

func (l *RemarkList) settle() {
	slices.SortStableFunc(l.Remarks, func(a, b Remark) int { return a.Row - b.Row })
	kept := min(len(l.Remarks), mostRemarks)
	clear(l.Remarks[kept:])
	l.Remarks = l.Remarks[:kept]
}

// Remarks are the values that [Counts] counts as imputed or as unseen categories. Unexpected are
// missing values in columns that missed none in calibration.
type Remarks struct{ Imputed, Unseen, Unexpected RemarkList }

// Add adds the remarks on a record that [Encoder.Encode] has accepted; first is the number of its
// first row.
func (r *Remarks) Add(e *Encoder, rec arrow.Record, first int) {
	t := allTables.of(e)
	rec = t.nulls.record(rec)
	defer rec.Release()
	for i := range e.Columns {
		c := &e.Columns[i]
		a := rec.Column(rec.Schema().FieldIndices(c.Name)[0])
		if c.Kind == Category {
			r.addUnseen(c, &t.columns[i], a, first)
			continue
		}
		for row, missing := range e.missing(c, &t.columns[i].form, a) {
			if missing {
				r.impute(c, first+row)
			}
		}
	}
	for _, l := range []*RemarkList{&r.Imputed, &r.Unseen, &r.Unexpected} {
		l.settle()
	}
}

func (r *Remarks) impute(c *Column, row int) {
	r.Imputed.add(Remark{Row: row, Column: c.Name})
	if !c.Missing {
		r.Unexpected.add(Remark{Row: row, Column: c.Name})
	}
}

// addUnseen adds the remarks on a category column.
func (r *Remarks) addUnseen(c *Column, bound *boundColumn, a arrow.Array, first int) {
	known, t := &bound.codes, textsOf(a)
	if bound.effects != nil {
		known = &bound.effects.codes
	}
	for row := range a.Len() {
		value, ok := t.at(row)
		switch known.code(value, ok) {
		case nullCode:
			r.impute(c, first+row)
		case unseenCode:
			r.Unseen.add(Remark{Row: first + row, Column: c.Name, Unseen: value})
		}
	}
}

// missing returns which values of a column other than a category are imputed.
func (e *Encoder) missing(c *Column, form *Form, a arrow.Array) []bool {
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
		loadTimes(values, null, a, rows, c.Kind, form)
	case in.parsed:
		loadParsed(values, null, a, rows, form.number)
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

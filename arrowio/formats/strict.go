package formats

import (
	"fmt"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// RowFault is a mistake of a caller in a row of JSON. A stream would read the value as missing, or
// ignore it.
type RowFault struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
	// Fault describes the mistake: one of the constants below, or the expected kind of value.
	Fault string `json:"fault"`
}

// Faults of rows other than values of a wrong kind.
const (
	faultUnknown = "unknown"
	faultMissing = "missing"
	FaultNull    = "null, which no explored row was"
)

// Missing reports whether the value is missing, which a caller may allow.
func (f RowFault) Missing() bool { return f.Fault == faultMissing || f.Fault == FaultNull }

// maxRowFaults is the maximum number of listed faults.
const maxRowFaults = 100

// RowColumns holds the allowed and the required columns of JSON rows. It belongs to one goroutine.
type RowColumns struct {
	columns []encoder.Column
	places  map[string]int // by name; negative for known columns that are not encoded
	given   []givenColumn  // columns of the last message without unknown columns
}

// givenColumn is a column of a message.
type givenColumn struct {
	name  string
	place int
}

// unknownPlace marks an unknown column.
const unknownPlace = -2

// NewRowColumns returns the columns of rows for an encoder, and for the columns of the events from
// which it was learned.
func NewRowColumns(e *encoder.Encoder, events []encoder.ColumnUse) *RowColumns {
	places := make(map[string]int)
	for _, use := range events { // including columns that were left out
		places[use.Column] = -1
	}
	for _, name := range e.Passthrough {
		places[name] = -1
	}
	if e.Label != nil {
		for _, name := range e.Label.Columns {
			places[name] = -1
		}
	}
	for i := range e.Columns {
		places[e.Columns[i].Name] = i
	}
	return &RowColumns{columns: e.Columns, places: places}
}

// RowFaults returns the first hundred faults of the last decoded JSON message: missing columns,
// unknown columns, and values of the wrong kind. With allowMissing, a missing column is no fault.
func (d *Decoder) RowFaults(of *RowColumns, allowMissing bool) (faults []RowFault) {
	t, columns := &d.table, of.columns
	strange := of.find(t.columns)
	if !strange && t.faultless(of, allowMissing) {
		return nil
	}
	for row := 0; row < t.rows && len(faults) < maxRowFaults; row++ {
		seen := 0
		for i := range of.given {
			c, at := &t.columns[i], of.given[i].place
			if !c.has(row) {
				continue
			}
			if at == unknownPlace {
				faults = append(faults, RowFault{row, c.name, faultUnknown})
			}
			if at < 0 {
				continue
			}
			seen++
			if want := t.misfit(wantedOf(&columns[at]), c.cells[row]); want != "" {
				faults = append(faults, RowFault{row, c.name, t.shown(c.cells[row]) + ", " + want})
			}
		}
		for i := 0; i < len(columns) && seen < len(columns) && !allowMissing; i++ {
			if at, there := t.find(columns[i].Name); !there || !t.columns[at].has(row) {
				faults = append(faults, RowFault{row, columns[i].Name, faultMissing})
			}
		}
	}
	if strange {
		of.given = nil // do not keep unknown names, which the caller chooses
	}
	return faults[:min(len(faults), maxRowFaults)]
}

// faultless reports whether no row has a fault. It checks column by column.
func (t *table) faultless(of *RowColumns, allowMissing bool) bool {
	encoded := 0
	for i := range of.given {
		c, at := &t.columns[i], of.given[i].place
		if at < 0 {
			continue
		}
		encoded++
		named := 0 // rows
		for _, n := range c.counts {
			named += n
		}
		if named < t.rows && !allowMissing || !t.fits(c, &of.columns[at]) {
			return false
		}
	}
	return allowMissing || encoded == len(of.columns)
}

// fits reports whether all values of a column have the wanted kind.
func (t *table) fits(c *column, wanted *encoder.Column) bool {
	switch wanted.Kind {
	case encoder.Numeric:
		return c.counts[cellBool]+c.counts[cellText]+c.counts[cellList]+c.counts[cellOther] == 0
	case encoder.Category:
		return c.counts[cellList]+c.counts[cellOther] == 0
	}
	for _, v := range c.cells {
		if t.misfit(wantedOf(wanted), v) != "" {
			return false
		}
	}
	return true
}

// find sets the places of the columns of a message, once for all of its rows, and reports whether a
// column is unknown. Most messages have the columns of the previous one.
func (c *RowColumns) find(columns []column) (strange bool) {
	c.given = c.given[:min(len(c.given), len(columns))]
	for i := range columns {
		name := columns[i].name
		if i < len(c.given) && c.given[i].name == name {
			continue
		}
		place, known := c.places[name]
		if !known {
			place, strange = unknownPlace, true
		}
		c.given = append(c.given[:i], givenColumn{name, place})
	}
	return strange
}

// has reports whether a row names the column.
func (c *column) has(row int) bool { return row < len(c.cells) && c.cells[row] != cell{} }

// misfit describes the kind that a value should have; it is empty if the value is missing or can be
// read as the kind of its column.
func (t *table) misfit(want wantedKind, v cell) string {
	if v.kind == cellNull {
		return ""
	}
	read := t.reads(want, v)
	switch want.kind {
	case encoder.Numeric:
		if !read {
			return "not a number"
		}
	case encoder.Bool:
		if v.kind != cellBool && !read {
			return "not true or false"
		}
	case encoder.Category:
		if v.kind == cellList || v.kind == cellOther {
			return "not a text"
		}
	case encoder.Vector:
		if _, n := v.span(); v.kind != cellList || n != want.width {
			return fmt.Sprintf("not a list of %d numbers", want.width)
		}
	case encoder.Time, encoder.Clock:
		if !read {
			return "not a time"
		}
	}
	return ""
}

// reads reports whether a value is a number where the encoder reads numbers, or a text that it can
// read or that marks a missing value.
func (t *table) reads(want wantedKind, v cell) bool {
	if want.kind == encoder.Numeric || want.form.Counts() {
		if isNumber(v) || v.kind == cellWide {
			return true
		}
	}
	text, isText := t.textOf(v)
	return isText && want.form.Reads(want.kind, text)
}

// shown describes a value in a fault.
func (t *table) shown(v cell) string {
	text, ok := t.textOf(v)
	switch {
	case ok:
		return arrowio.Quote(text)
	case v.kind == cellList:
		_, n := v.span()
		return fmt.Sprintf("a list of %d numbers", n)
	case v.kind == cellOther:
		return "a list"
	}
	m := maker{table: t}
	return string(m.appendText(nil, v))
}

// textOf returns a text; false for another value.
func (t *table) textOf(v cell) (string, bool) {
	if v.kind != cellText {
		return "", false
	}
	at, n := v.span()
	return string(t.text[at : at+n]), true
}

// Unfit returns an error, which wraps [encoder.ErrSchema], if a value in the message that was
// decoded last is a list where the encoder reads single values. No column of a record could hold it,
// so it would become null. Where the encoder reads vectors, a list of another length is missing.
func (d *Decoder) Unfit() error {
	if d.isArrow || d.wanted == nil {
		return nil
	}
	t := &d.table
	for i := range t.columns {
		c := &t.columns[i]
		want := d.wanted.kind(c.name)
		lists := c.counts[cellList] + c.counts[cellOther]
		if want.kind == "" || want.kind == encoder.Vector || lists == 0 {
			continue
		}
		for row, v := range c.cells {
			if v.kind != cellList && v.kind != cellOther {
				continue // a text of another kind rejects its row
			}
			if fault := t.misfit(want, v); fault != "" {
				return fmt.Errorf("%w: column %s is %s in row %d, %s",
					encoder.ErrSchema, arrowio.Quote(c.name), t.shown(v), row, fault)
			}
		}
	}
	return nil
}

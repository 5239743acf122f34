package formats

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// RowFault is what a caller got wrong in a row of JSON, which a stream would read as a missing value or pass over.
type RowFault struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
	// Fault says what is wrong: one of those below, or what the value is not.
	Fault string `json:"fault"`
}

// Faults of rows other than values of a wrong kind.
const (
	faultUnknown = "unknown"
	faultMissing = "missing"
	FaultNull    = "null, which no explored row was"
)

// Missing reports whether there is no value, which a caller may allow.
func (f RowFault) Missing() bool { return f.Fault == faultMissing || f.Fault == FaultNull }

// maxRowFaults is how many faults are listed.
const maxRowFaults = 100

// RowChecker finds columns that rows of JSON lack, that nobody knows, and values of the wrong kind. It belongs to one goroutine.
type RowChecker struct {
	columns []encoder.Column
	place   map[string]int // by name; below 0 for columns that are known and not read
	allow   bool

	decoder *jsontext.Decoder
	path    []byte
	seen    []int // number of the last row that has the column, from 1 on
	row     int
	faults  []RowFault
}

// NewRowChecker returns a checker of rows for an encoder and the columns of the events that it comes from.
func NewRowChecker(e *encoder.Encoder, events []encoder.ColumnUse) *RowChecker {
	c := &RowChecker{columns: e.Columns, place: make(map[string]int), seen: make([]int, len(e.Columns))}
	for _, use := range events { // those that were left out, too
		c.place[use.Column] = -1
	}
	for _, name := range e.Passthrough {
		c.place[name] = -1
	}
	if e.Label != nil {
		for _, name := range e.Label.Columns {
			c.place[name] = -1
		}
	}
	for i := range e.Columns {
		c.place[e.Columns[i].Name] = i
	}
	return c
}

// Check returns the faults of a message that a [Decoder] has read, the first hundred of them. A column that is not there is no
// fault with allowMissing.
func (c *RowChecker) Check(value []byte, allowMissing bool) []RowFault {
	c.allow, c.row, c.faults, c.path = allowMissing, 0, nil, c.path[:0]
	clear(c.seen)
	c.decoder = jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true)) // a buffer is not copied
	defer func() { c.decoder, c.faults = nil, nil }()
	for {
		switch c.decoder.PeekKind() {
		case '{':
			c.object()
			c.endRow()
		case '[', ']':
			c.skip()
		default: // the end, since the message has been read before
			return c.faults
		}
	}
}

func (c *RowChecker) skip() { _, _ = c.decoder.ReadToken() }

// object walks the names of an object, those within others after a point, as the reader of messages does.
func (c *RowChecker) object() {
	c.skip()
	prefix := len(c.path)
	for c.decoder.PeekKind() == '"' {
		name, err := c.decoder.ReadValue()
		if err != nil {
			return
		}
		if c.path, err = appendText(c.path, name); err != nil {
			return
		}
		if c.decoder.PeekKind() == '{' {
			c.path = append(c.path, '.')
			c.object()
		} else {
			c.value()
		}
		c.path = c.path[:prefix]
	}
	c.skip()
}

// value looks at the value of the column named by the path.
func (c *RowChecker) value() {
	raw, err := c.decoder.ReadValue()
	if err != nil {
		return
	}
	i, known := c.place[string(c.path)]
	switch {
	case !known:
		c.fault(string(c.path), faultUnknown)
	case i >= 0:
		c.seen[i] = c.row + 1
		if column := &c.columns[i]; raw[0] != 'n' {
			if want := misfit(column, raw); want != "" {
				c.fault(column.Name, want)
			}
		}
	}
}

// endRow looks for columns that the row did not have.
func (c *RowChecker) endRow() {
	for i := range c.columns {
		if c.seen[i] != c.row+1 && !c.allow {
			c.fault(c.columns[i].Name, faultMissing)
		}
	}
	c.row++
}

func (c *RowChecker) fault(column, what string) {
	if len(c.faults) < maxRowFaults {
		c.faults = append(c.faults, RowFault{c.row, column, what})
	}
}

// misfit says what a value other than null is not; empty if it is of the kind of the column.
func misfit(c *encoder.Column, raw []byte) string {
	switch c.Kind {
	case encoder.Numeric:
		if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			return "not a number"
		}
	case encoder.Bool:
		if text := string(bytes.Trim(raw, `"`)); text != "true" && text != "false" {
			return "not true or false"
		}
	case encoder.Category:
		if raw[0] == '[' {
			return "not a text"
		}
	case encoder.Vector:
		if raw[0] != '[' || bytes.Count(raw, []byte{','}) != c.Width-1 {
			return fmt.Sprintf("not a list of %d numbers", c.Width)
		}
	case encoder.Time, encoder.Clock:
		if text, err := appendText(nil, raw); raw[0] != '"' || err != nil || !encoder.IsTime(c.Kind, string(text)) {
			return "not a time"
		}
	}
	return ""
}

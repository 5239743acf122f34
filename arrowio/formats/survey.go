package formats

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Learning configures how messages are read while an encoder is learned. JSON rows have no types.
// The types must not depend on the other rows of a message, so a [Survey] of all rows chooses them
// later.
type Learning struct {
	// Row is called with the text of each JSON row, even if its message is refused later.
	Row func(text []byte)
	// Labels are the columns of the records of a JSON message: one record for each kind of label
	// value, with all rows. The first record counts the rows.
	Labels []string
}

// report passes the text of the completed row to [Learning.Row].
func (r *jsonReader) report() {
	text := r.body[r.ended:r.decoder.InputOffset()]
	r.ended += int64(len(text))
	r.learning.Row(text[bytes.IndexByte(text, '{'):])
}

// labelKinds are the kinds of values that a label can have.
var labelKinds = [][]cellKind{{cellWhole, cellFloat}, {cellText}, {cellBool}}

// labelRecords makes a record of the label columns for each kind of label value, and at least one
// record.
func (t *table) labelRecords(names []string, schemas []schemaCache) (all []arrow.Record, err error) {
	defer func() {
		if err != nil {
			for _, rec := range all {
				rec.Release()
			}
		}
	}()
	for i, kinds := range labelKinds {
		found := slices.ContainsFunc(names, func(name string) bool {
			at, ok := t.find(name)
			if ok {
				t.narrow(&t.columns[at])
			}
			return ok && slices.ContainsFunc(kinds, func(k cellKind) bool { return t.columns[at].counts[k] > 0 })
		})
		if !found && (i < len(labelKinds)-1 || len(all) > 0) {
			continue
		}
		rec, err := t.labelRecord(names, kinds, &schemas[i])
		if err != nil {
			return all, err
		}
		all = append(all, rec)
	}
	return all, nil
}

// labelRecord makes a record of the existing label columns, with the values of the given kinds.
func (t *table) labelRecord(names []string, kinds []cellKind, schemas *schemaCache) (arrow.Record, error) {
	if err := t.budget.Take(recordCost); err != nil {
		return nil, err
	}
	m := maker{table: t}
	var columns []arrow.Array
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	var there []string
	for _, name := range names {
		at, ok := t.find(name)
		if !ok {
			continue
		}
		c, err := t.only(&t.columns[at], kinds)
		if err != nil {
			return nil, err
		}
		made, err := m.array(c, t.commonType(c))
		if err != nil {
			return nil, err
		}
		columns, there = append(columns, made), append(there, name)
	}
	return array.NewRecord(
		schemas.schema(func(i int) string { return there[i] }, columns, true),
		columns,
		int64(t.rows),
	), nil
}

// only returns the column with the values of the given kinds.
func (t *table) only(c *column, kinds []cellKind) (*column, error) {
	only := &column{name: c.name}
	values := 0
	for _, k := range kinds {
		only.counts[k] = c.counts[k]
		values += c.counts[k]
	}
	if only.cells = c.cells; values == len(c.cells)-c.counts[cellNull] {
		return only, nil
	}
	if err := t.budget.Take(int64(len(c.cells)) * cellBytes); err != nil {
		return nil, err
	}
	only.cells = slices.Clone(c.cells)
	for i := range only.cells {
		if !slices.Contains(kinds, only.cells[i].kind) {
			only.cells[i] = cell{}
		}
	}
	return only, nil
}

// Survey counts the kinds of values in JSON rows. Rows may have any number of columns; a survey
// keeps the columns that the caller names and the most common ones. It belongs to one goroutine.
type Survey struct {
	decoder *Decoder
	named   func(name string) bool
	rows    int64
	columns []surveyed
	index   map[string]int
	dropped Others
}

// Others are columns that were left out.
type Others struct {
	Count   int
	Example string // the name of one of them
}

func (o *Others) add(c *surveyed) {
	if o.Count++; o.Example == "" {
		o.Example = c.name
	}
}

// surveyed holds the counts of a column.
type surveyed struct {
	name   string
	counts [cellKinds]int64
	widths map[int]int64 // numbers of lists, by length
	rows   int64         // the rank for keeping the column
}

// Column is a column of JSON, with the type of its values.
type Column struct {
	Name  string
	Kind  encoder.Kind
	Width int
}

// NewSurvey returns an empty survey. It always keeps the named columns.
func NewSurvey(limits arrowio.Limits, named func(name string) bool) *Survey {
	return &Survey{decoder: NewDecoder(Options{Format: JSON, Limits: limits}), named: named, index: make(map[string]int)}
}

// Rows returns the number of added rows.
func (s *Survey) Rows() int64 { return s.rows }

// Add counts the rows of a message.
func (s *Survey) Add(text []byte) error {
	t := &s.decoder.table
	t.reset(s.decoder.options.Limits)
	if err := s.decoder.read(message{body: text}, lookup(JSON), false); err != nil {
		t.abandon()
		return err
	}
	s.rows += int64(t.rows)
	for i := range t.columns {
		c := &t.columns[i]
		at, known := s.index[c.name]
		if !known {
			at = len(s.columns)
			s.index[c.name], s.columns = at, append(s.columns, surveyed{name: c.name})
		}
		s.columns[at].add(c)
	}
	if most := s.decoder.options.Limits.MaxColumns; len(s.columns) > 4*most {
		s.keep(2 * most)
	}
	return nil
}

// keep drops all but the most common columns.
func (s *Survey) keep(most int) {
	if len(s.columns) <= most {
		return
	}
	order := make([]int, len(s.columns))
	for i := range order {
		order[i] = i
		s.columns[i].rows = s.columns[i].values()
		if s.named(s.columns[i].name) {
			s.columns[i].rows = math.MaxInt64
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.columns[b].rows, s.columns[a].rows) })
	for _, at := range order[most:] {
		s.dropped.add(&s.columns[at])
	}
	slices.Sort(order[:most])
	columns := make([]surveyed, most)
	clear(s.index)
	for i, at := range order[:most] {
		columns[i] = s.columns[at]
		s.index[columns[i].name] = i
	}
	s.columns = columns
}

func (s *surveyed) add(c *column) {
	for kind, n := range c.counts {
		s.counts[kind] += int64(n)
	}
	if c.counts[cellList] == 0 {
		return
	}
	if s.widths == nil {
		s.widths = make(map[int]int64)
	}
	for _, one := range c.cells {
		if one.kind == cellList {
			_, n := one.span()
			s.widths[n]++
		}
	}
}

// Columns returns the named columns and the columns that have a value in enough rows, within the
// limit of a message, in the order of their first appearance. It also returns the left-out columns.
// A column has the kind of most of its values.
func (s *Survey) Columns(least int64) (columns []Column, others Others) {
	s.keep(s.decoder.options.Limits.MaxColumns)
	others = s.dropped
	for i := range s.columns {
		if c := &s.columns[i]; c.values() >= least || s.named(c.name) {
			columns = append(columns, c.column())
		} else {
			others.add(c)
		}
	}
	return columns, others
}

// values returns the number of rows with a value.
func (s *surveyed) values() (rows int64) {
	for kind, n := range s.counts {
		if cellKind(kind) != cellNull {
			rows += n
		}
	}
	return rows
}

// column decides the type of the values: strings win a tie, and lists have their most common
// length.
func (s *surveyed) column() Column {
	made := Column{Name: s.name, Width: 1}
	numbers := s.counts[cellWhole] + s.counts[cellWide] + s.counts[cellFloat]
	lists, width := int64(0), 0
	for n, rows := range s.widths {
		if n > 0 && (rows > lists || rows == lists && n < width) {
			lists, width = rows, n
		}
	}
	switch most := max(s.counts[cellText], numbers, s.counts[cellBool], lists); most {
	case 0:
	case s.counts[cellText]:
		made.Kind = encoder.Category
	case numbers:
		made.Kind = encoder.Numeric
	case s.counts[cellBool]:
		made.Kind = encoder.Bool
	default:
		made.Kind, made.Width = encoder.Vector, width
	}
	return made
}

// NewColumnReader returns a Decoder of JSON whose records always have the given columns.
func NewColumnReader(limits arrowio.Limits, columns []Column) *Decoder {
	d := NewDecoder(Options{Format: JSON, Limits: limits})
	d.wanted = &wanted{kinds: make(map[string]wantedKind), only: true}
	for _, c := range columns {
		d.wanted.features = append(d.wanted.features, c.Name)
		d.wanted.kinds[c.Name] = wantedKind{kind: c.Kind, width: c.Width}
	}
	return d
}

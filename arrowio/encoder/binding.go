package encoder

import (
	"strconv"
	"sync"
	"weak"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
)

// binding is one goroutine's view of an encoder: where its columns are in records
// of the last schema. Schemas are compared by pointer, because a decoder returns the same one as
// long as a topic's schema does not change; for another pointer the columns are looked up again.
type binding struct {
	encoder *Encoder
	*tables

	rows    int64   // rows encoded since the last [Rows.TakeImputed]
	imputed []int64 // values of each column since then
	tallies []Tally // of the columns, then of the label columns
	before  int64   // rows encoded since then, without the current record

	schema *arrow.Schema
	text   bool // the schema is of a text format
	// features and label are column numbers in schema; label is empty without a label.
	features []int
	label    []int
}

// boundColumn is one feature column, ready for use.
type boundColumn struct {
	kind  Kind
	width int
	form  Form
	// at is the column's first dimension.
	at      int
	scaling scaling
	// cycles belong to a time column. For columns of single numbers or times, extras is the scaling
	// of the dimensions for cycles and missing values, and flagged is set if missing values have
	// one.
	cycles    []*cycleFacts
	cycleDims int // of each cycle
	extras    scaling
	flagged   bool
	// indicators are for booleans and categories, codes for categories only.
	indicators indicators
	codes      codeTable
	effects    *boundEffects
}

// tables are the lookup tables of an encoder. They are immutable, and all users of the encoder
// share them: with many categories they are large.
type tables struct {
	columns   []boundColumn
	classes   classTable
	nulls     *nullWords
	labelForm Form
}

// sharedTables are the tables of live encoders. They are safe for concurrent use.
type sharedTables struct {
	mu    sync.Mutex
	inUse map[weak.Pointer[Encoder]]weak.Pointer[tables]
}

var allTables = sharedTables{inUse: map[weak.Pointer[Encoder]]weak.Pointer[tables]{}}

// of returns the tables of an encoder. A caller waits while another makes them.
func (s *sharedTables) of(e *Encoder) *tables {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := weak.Make(e)
	if t := s.inUse[key].Value(); t != nil {
		return t
	}
	for other, t := range s.inUse {
		if t.Value() == nil {
			delete(s.inUse, other)
		}
	}
	nulls := newNullWords(e.NullWords)
	t := &tables{columns: boundColumns(e, nulls), nulls: nulls}
	if e.Label != nil {
		t.classes = newClassTable(e.Label, nulls)
		t.labelForm = e.Label.Form
		t.labelForm.nulls = nulls
	}
	s.inUse[key] = weak.Make(t)
	return t
}

// bind prepares the binding for e and schema.
func (b *binding) bind(e *Encoder, schema *arrow.Schema) error {
	if b.encoder != e {
		*b = binding{encoder: e, tables: allTables.of(e), imputed: make([]int64, len(e.Columns))}
		b.tallies = make([]Tally, len(e.Columns))
		if e.Label != nil {
			b.tallies = append(b.tallies, make([]Tally, len(e.Label.Columns))...)
		}
	}
	if b.schema == schema {
		return nil
	}
	b.schema = nil
	var err error
	if b.features, b.label, err = e.resolve(schema, b.features, b.label); err != nil {
		return err
	}
	b.text = false
	for i := range schema.NumFields() { // without a copy of all fields
		marks := schema.Field(i).Metadata
		at := marks.FindKey(TextField)
		b.text = b.text || at >= 0 && marks.Values()[at] != TextFile
	}
	b.schema = arrowio.Resting(schema)
	return nil
}

// boundColumns prepares the columns of an encoder.
func boundColumns(e *Encoder, nulls *nullWords) []boundColumn {
	columns := make([]boundColumn, len(e.Columns))
	at := 0
	for i := range e.Columns {
		c := &e.Columns[i]
		b := boundColumn{kind: c.Kind, width: c.Width, form: c.Form, at: at, flagged: c.Missing}
		b.form.nulls = nulls
		switch c.Kind {
		case Bool, Category:
			b.scaling = newScaling(e, c, 0, c.Width)
			b.indicators = newIndicators(&b.scaling, c)
			b.codes = codeTable{numbered(c.Categories), nulls}
			b.effects = newBoundEffects(e, c, at, nulls)
		default:
			b.scaling = newScaling(e, c, 0, c.values())
			b.extras = newScaling(e, c, c.values(), c.Width)
			b.cycleDims = c.CycleDims()
			for _, cycle := range c.Cycles {
				b.cycles = append(b.cycles, cycle.facts())
			}
		}
		columns[i] = b
		at += c.Width
	}
	return columns
}

// plain reports whether the column holds single numbers and has no other dimensions.
func (c *boundColumn) plain() bool { return c.kind == Numeric && !c.flagged }

// numbered returns the table from name to position.
func numbered(names []string) map[string]int32 {
	table := make(map[string]int32, len(names))
	for i, name := range names {
		table[name] = int32(i)
	}
	return table
}

// classTable finds the class number of a label value.
type classTable struct {
	names   codeTable
	numbers map[float64]int32
	no, yes int32
}

// newClassTable returns the table of a label's classes, empty for a regression.
func newClassTable(l *Label, nulls *nullWords) classTable {
	if l.Task == scoring.Regression {
		return classTable{}
	}
	t := classTable{names: codeTable{numbered(l.Classes), nulls}, numbers: make(map[float64]int32, len(l.Classes))}
	t.no = t.names.code(className(false), true)
	t.yes = t.names.code(className(true), true)
	if l.Kind != Numeric {
		return t
	}
	for i, name := range l.Classes {
		if v, err := strconv.ParseFloat(name, 64); err == nil {
			t.numbers[v] = int32(i)
		}
	}
	return t
}

// className returns the class name of a boolean.
func className(v bool) string { return strconv.FormatBool(v) }

// classNumber returns the class name of a number: its shortest form, without an exponent for whole
// numbers.
func classNumber(v float64) string {
	if v <= maxWhole && v >= -maxWhole && v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10) // through an integer, so that -0 is "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// maxWhole bounds the whole numbers that name classes: float64 distinguishes all below 2^53.
const maxWhole = 1<<53 - 1

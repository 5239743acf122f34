package encoder

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// LabelCounter counts the labelled rows of records and collects their classes; it reads only the
// label columns. It belongs to one goroutine. Counters for several parts of a log can be merged
// afterwards, in any order.
type LabelCounter struct {
	options Options
	// kinds are the labels seen, by the kind they have in a record: calibration decides which one
	// is meant.
	kinds map[Kind]*learnedLabel

	// schema is the last record's, columns are its label columns and label their counts.
	schema  *arrow.Schema
	columns []int
	label   *learnedLabel // nil = no usable label
	// unusable is the fault of the first unusable label, "" without one.
	unusable string
	absent   int64 // rows of records without all label columns

	arrays  []arrow.Array
	scratch scratch
}

// NewLabelCounter returns a counter that has seen no rows. The options must be valid
// ([Options.Validate]).
func NewLabelCounter(o Options) *LabelCounter {
	return &LabelCounter{options: o.withDefaults(), kinds: make(map[Kind]*learnedLabel)}
}

// Add counts the rows of a record. A record without the label columns, or with a label that does
// not fit the task, has no labelled rows.
func (c *LabelCounter) Add(rec arrow.Record) {
	if rec.Schema() != c.schema {
		c.bind(rec.Schema())
	}
	if c.label == nil {
		if len(c.columns) == 0 {
			c.absent += rec.NumRows()
		}
		return
	}
	rec = c.options.nulls.record(rec)
	defer rec.Release()
	c.arrays = c.arrays[:0]
	for _, column := range c.columns {
		c.arrays = append(c.arrays, rec.Column(column))
	}
	inBlocks(int(rec.NumRows()), len(c.columns), func(block picked) { c.label.learn(c.arrays, block, &c.scratch) })
	clear(c.arrays)
}

// bind finds the label in a schema.
func (c *LabelCounter) bind(schema *arrow.Schema) {
	c.schema, c.label = arrowio.Resting(schema), nil
	fresh := newLearnedLabel(&c.options)
	columns, faults := findLabel(nil, schema, c.options.Label, fresh.want())
	if c.columns = columns; len(faults) > 0 {
		c.columns = nil
	}
	kind, fault := fresh.kindOf(schema, columns)
	if fault != "" {
		faults = append(faults, fault)
	}
	if len(faults) > 0 && c.unusable == "" {
		c.unusable = listed(faults, "; ")
	}
	if len(faults) > 0 || len(columns) == 0 || kind == kindAny {
		return
	}
	if field := schema.Field(columns[0]); kind == Numeric && fresh.regresses() && len(columns) == 1 &&
		isTextType(field.Type) {
		kind = Category
		c.options.preferComma = field.Metadata.FindKey(CommaField) >= 0
	}
	c.columns, c.label = columns, c.of(kind)
}

// of returns the counts for a kind.
func (c *LabelCounter) of(kind Kind) *learnedLabel {
	if c.kinds[kind] == nil {
		label := newLearnedLabel(&c.options)
		label.become(kind)
		c.kinds[kind] = &label
	}
	return c.kinds[kind]
}

// Merge adds the counts of other.
func (c *LabelCounter) Merge(other *LabelCounter) {
	for kind, label := range other.kinds {
		c.of(kind).merge(label)
	}
	c.absent += other.absent
	if c.unusable == "" {
		c.unusable = other.unusable
	}
}

// Absent is the number of rows without all label columns.
func (c *LabelCounter) Absent() int64 { return c.absent }

// Refused is the number of rows whose label is out of bounds, not finite, or of no configured
// class, and the first of these labels; it does not count nulls.
func (c *LabelCounter) Refused() (rows int64, first string) {
	for _, label := range c.kinds {
		if label.refused+label.unseen > 0 && (rows == 0 || label.firstRefused < first) {
			first = label.firstRefused
		}
		rows += label.refused + label.unseen
	}
	return rows, first
}

// Unusable returns why no row has a usable label; nil if some have, or if none has a label.
func (c *LabelCounter) Unusable() error {
	if c.unusable == "" || c.MostRows() > 0 {
		return nil
	}
	return &LabelError{c.options.Label, "cannot be used: " + c.unusable}
}

// UnusableType returns why the label of some rows is of a type that cannot be learned; "" if none
// is.
func (c *LabelCounter) UnusableType() string { return c.unusable }

// Fault returns why labels of this kind cannot be learned; nil if they can, or if no row has one.
// The error is a [LabelError].
func (c *LabelCounter) Fault(kind Kind) error {
	label := c.kinds[kind]
	switch {
	case label == nil || label.rows < 2:
		return nil
	case label.regresses():
		return label.numberFault()
	case label.regression() != nil:
		if v := label.regression(); v.numbers.values.all.constant() {
			return label.faulty("has one value (%.6g) in all %d labelled rows: %s", v.numbers.values.all.lo, v.fits, otherLabel)
		}
		return nil
	case label.text != nil && c.options.Task == TaskRegression:
		v := label.text.asNumbers(c.options.preferComma)
		return label.faulty("is text, and only %d of its %d values are numbers, others are %s: set events.task (--task) "+
			"to classification, or events.label (--label) to a column of numbers", v.fits, label.rows, label.misfits(&v))
	case len(c.options.Classes) > 0:
		return nil
	}
	return label.classFault()
}

// Hint returns a note about the task that was inferred from labels of this kind, usually "".
func (c *LabelCounter) Hint(kind Kind) string {
	if label := c.kinds[kind]; label != nil {
		if v := label.regression(); v != nil {
			return label.formNote(v)
		}
		return label.hint()
	}
	return ""
}

// LeavesOut reports whether the hint is about classes that are not learned.
func (c *LabelCounter) LeavesOut(kind Kind) bool {
	label := c.kinds[kind]
	if label == nil || label.regresses() || label.regression() != nil || label.classes.lost > 0 ||
		len(c.options.Classes) > 0 {
		return false
	}
	_, rare := label.commonClasses()
	return len(rare) > 0
}

// FindClasses sets the classes to the ones that a counter has found. The counter reports the
// classes that it leaves out.
// Strings that are numbers make a regression instead.
func (o *Options) FindClasses(c *LabelCounter, kind Kind) {
	if label := c.kinds[kind]; label != nil {
		if v := label.regression(); v != nil {
			o.Task, o.labelForm = TaskRegression, v.form
			return
		}
	}
	o.Classes, o.classesFound = c.Classes(kind), true
}

// RowsOf is the number of rows that have the label.
func (c *LabelCounter) RowsOf(l *Label) int64 {
	rows := c.Rows(l.Kind)
	if text := c.kinds[Category]; l.Text && text != nil && text.text != nil {
		rows += text.text.reading(l.DecimalComma, l.Unit).fits
	}
	return rows
}

// Rows is the number of labelled rows with a label of the kind.
func (c *LabelCounter) Rows(kind Kind) int64 {
	if c.kinds[kind] == nil {
		return 0
	}
	return c.kinds[kind].rows
}

// MostRows is the number of labelled rows of the kind with the most rows.
func (c *LabelCounter) MostRows() (most int64) {
	for kind := range c.kinds {
		most = max(most, c.Rows(kind))
	}
	return most
}

// Classes are the names of the classes seen in rows with a label of this kind, in the order that
// [Options.Classes] describes; none for a regression. None are returned for a single class or for
// too many: a [Calibrator] then reports the fault.
func (c *LabelCounter) Classes(kind Kind) []string {
	label := c.kinds[kind]
	if label == nil || label.regresses() || label.regression() != nil || label.tooLarge || label.tooLong {
		return nil
	}
	names := label.seenClasses()
	if len(names) < 2 || len(names) > c.options.MaxClasses {
		return nil
	}
	return names
}

// merge adds the rows and classes of other, a label of the same kind.
func (l *learnedLabel) merge(other *learnedLabel) {
	// rows until there were too many classes, if other reaches that: assumes that its classes come
	// evenly
	crossing := l.rows
	if others := len(other.classes.rows); others > 0 {
		crossing += other.rows * int64(MaxClasses-len(l.classes.rows)) / int64(others)
	}
	if l.rows == 0 {
		l.example = other.example
	}
	l.rows += other.rows
	if l.refused+l.unseen == 0 {
		l.firstRefused = other.firstRefused
	}
	l.refused += other.refused
	l.unseen += other.unseen
	l.tooLarge, l.tooLong = l.tooLarge || other.tooLarge, l.tooLong || other.tooLong
	l.classes.merge(&other.classes)
	switch {
	case l.beyondRows > 0:
	case other.beyondRows > 0:
		l.beyondRows = other.beyondRows
	case l.classes.lost > 0:
		l.beyondRows = crossing
	}
	for i := range l.moments {
		l.moments[i].merge(other.moments[i])
	}
	l.values.merge(&other.values)
	if l.text != nil && other.text != nil {
		l.text.merge(other.text)
	}
}

// LabelKind is the kind of the configured label in a schema; ok is false if it has no usable label.
func LabelKind(o Options, schema *arrow.Schema) (kind Kind, ok bool) {
	c := NewLabelCounter(o)
	c.bind(schema)
	if c.label == nil {
		return kindAny, false
	}
	return c.label.kind, true
}

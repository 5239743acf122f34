package encoder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/internal/nearest"
)

// Calibrator learns an [Encoder] from records added in order. What it learns depends on the rows
// and their order, to the last bit, but not on how they were cut into records. It belongs to one
// goroutine and copies what it keeps, so a record may be released after Add.
//
// The first record with rows decides what the feature columns are. Later records must have all of
// them, with the same kinds. If the options do not list the features, these columns are left out,
// and reported:
//
//   - columns that look like identifiers among their first 65,536 values, of strings 8,192 (fewer
//     when there are more than 64 or 32 such columns), if these are at least 100. Over 95 % of an
//     identifier's strings or whole numbers are distinct, unless the rows are a sample
//     ([Calibrator.SampledFrom]) whose repeated values show that fewer are in all rows; or at least
//     1000 values recur at most ten times on average, and the name says what they are
//     ("customerID"), or, of strings, new ones keep coming, most are in one calibration row, and none
//     is in more than 1 % of the rows,
//   - string columns that hold text: most values have more than MaxCategoryBytes bytes, or they look
//     like identifiers of more than 40 bytes,
//   - columns that are probably others with a misspelt name: at most a tenth of the rows has them,
//     and as many lack one of the same kind and nearly the same name,
//   - columns of types that cannot be read.
//
// A string column holds times if 95 % of its values are ISO 8601 dates and times, all of them dates
// or all of them times of day; the other values are missing. Otherwise it has a dimension for each
// of the MaxCategories commonest values (of equally common ones the first in byte order) and, if
// there are others, one for all of these and the [Effects] of all values on the label, which
// [EffectSums] fills in a second pass.
//
// A column without any usable value is left out and reported even if the options name it.
//
// Memory is bounded by the columns, not the rows: MaxClasses classes, a fixed number of whole
// numbers and strings over all columns, and four times MaxCategories strings per column. A column
// with more different strings than there is room for is counted approximately.
type Calibrator struct {
	options Options
	// fault is the fault of the options, refused the first error of Add.
	fault, refused error
	// columns is nil until the first record.
	columns []*learned
	leftOut []LeftOut
	label   learnedLabel
	rows    int64
	// population is the number of rows of which the added ones are a sample; 0 = they are all.
	population int64
	// uses are the columns of the first record.
	uses []ColumnUse
	// named are the columns that the options name outside Features, and whether a record had them.
	named map[string]bool
	// names are the columns of the first record, for errors.
	names string

	// schema is the last record's; features and labels are column numbers in it.
	schema   *arrow.Schema
	features []int
	labels   []int
	arrays   []arrow.Array
	scratch  scratch
}

// NewCalibrator returns a calibrator that has seen no rows. Add and Encoder return the faults of
// the options; see [Options.Validate].
func NewCalibrator(o Options) *Calibrator {
	c := &Calibrator{options: o.withDefaults(), fault: o.Validate(), named: make(map[string]bool)}
	c.label = newLearnedLabel(&c.options)
	c.scratch.nanMissing = c.options.NaN == NaNMissing
	c.scratch.nulls = c.options.nulls
	return c
}

// Rows returns the number of rows added.
func (c *Calibrator) Rows() int64 { return c.rows }

// SampledFrom sets the number of rows from which the added ones were taken by chance. Without it,
// they are all rows.
func (c *Calibrator) SampledFrom(rows int64) { c.population = rows }

// share returns the sampled share of the rows.
func (c *Calibrator) share() float64 { return float64(c.rows) / float64(max(c.rows, c.population)) }

// Add learns from all rows of a record. An error wraps [ErrSchema] if the record lacks a feature
// column, has one with another kind, or has a label that does not fit the task. Nothing is learned
// from it then, and the caller may continue with the next record. The rows of a record without the
// label columns are unlabelled. Values are never an error: those that would make Encode reject the
// row are left out of the moments.
func (c *Calibrator) Add(rec arrow.Record) error {
	if c.fault != nil {
		return c.fault
	}
	if rec.NumRows() == 0 {
		return nil
	}
	if err := c.bind(rec.Schema()); err != nil {
		if c.refused == nil {
			c.refused = err
		}
		return err
	}
	rec = c.options.nulls.record(rec)
	defer rec.Release()
	c.arrays = c.arrays[:0]
	for _, column := range c.labels {
		c.arrays = append(c.arrays, rec.Column(column))
	}
	rows := int(rec.NumRows())
	for i, l := range c.columns {
		inBlocks(rows, l.want.width, func(block picked) {
			l.learn(rec.Column(c.features[i]), block, &c.scratch)
		})
	}
	inBlocks(rows, max(1, len(c.labels)), func(block picked) { c.label.learn(c.arrays, block, &c.scratch) })
	clear(c.arrays)
	c.rows += int64(rows)
	return nil
}

// learnedFloats is the block size in which a column is learned, so that its scratch memory stays
// small.
const learnedFloats = 16 << 10

// inBlocks calls f with runs of row numbers, short enough to keep its scratch memory small.
func inBlocks(rows, width int, f func(block picked)) {
	step := max(1, learnedFloats/width)
	for first := 0; first < rows; first += step {
		f(picked{first: first, n: min(step, rows-first)})
	}
}

// bind finds the columns in a schema, or chooses them if it is the first. It changes nothing if it
// fails.
func (c *Calibrator) bind(schema *arrow.Schema) error {
	if schema == c.schema {
		return nil
	}
	columns, leftOut := c.columns, c.leftOut
	if columns == nil {
		var err error
		if columns, leftOut, err = choose(&c.options, schema); err != nil {
			return err
		}
	}
	features, faults := findAll(nil, schema, len(columns), func(i int) (string, columnType) {
		return columns[i].name, columns[i].want
	})
	faults = append(faults, tooWide(schema, features)...)
	labels, more := findLabel(nil, schema, c.options.Label, c.label.want())
	kind, fault := c.label.kindOf(schema, labels)
	if fault != "" {
		more = append(more, fault)
	}
	if err := schemaError(append(faults, more...)); err != nil {
		return err
	}
	if c.columns == nil {
		c.names = columnNames(schema)
	}
	c.columns, c.leftOut = columns, leftOut
	c.schema = schema
	c.features = features
	c.labels = labels
	c.label.become(kind)
	c.settleTypes()
	c.noteColumns()
	c.noteNames()
	return nil
}

// tooWide refuses more dimensions than an encoder may have, before memory is allocated for them.
func tooWide(schema *arrow.Schema, features []int) []string {
	dim := 0
	for _, at := range features {
		if at < 0 {
			continue
		}
		t, _ := typeOf(schema.Field(at).Type)
		if dim += t.width; dim > MaxDim {
			return []string{fmt.Sprintf("the columns up to %q have more than %d dimensions", schema.Field(at).Name, MaxDim)}
		}
	}
	return nil
}

// settleTypes gives columns of unknown kind the kind they have in the schema.
func (c *Calibrator) settleTypes() {
	whole, texts := 0, 0
	for _, at := range c.features {
		t, _ := typeOf(c.schema.Field(at).Type)
		whole += int(count(t.kind == Numeric))
		texts += int(count(t.kind == Category))
	}
	for i, l := range c.columns {
		field := c.schema.Field(c.features[i])
		t, _ := typeOf(field.Type)
		if l.want.kind != kindAny || t.kind == kindAny {
			continue
		}
		l.preferComma = field.Metadata.FindKey(CommaField) >= 0
		if l.declared != nil && l.declared.Kind == Category && (t.kind == Numeric || t.kind == Bool) {
			t = columnType{kind: Category, width: 1, numbers: true}
		}
		l.become(t, sketchTexts(texts, c.options.MaxCategories))
		if t.kind == Numeric && !l.explicit {
			l.whole = newDistinct[int64](wholeWindow(whole))
		}
	}
}

// noteNames records which of the columns named in the options exist.
func (c *Calibrator) noteNames() {
	for _, list := range [][]string{c.options.Label, c.options.Passthrough, c.options.Exclude, c.options.Include} {
		for _, name := range list {
			c.named[name] = c.named[name] || c.schema.HasField(name)
		}
	}
}

// Encoder returns what was learned so far, with a report for people. It fails if there were no
// rows, no feature column is left, fewer than two rows were labelled, or the label has one class.
func (c *Calibrator) Encoder() (*Encoder, Report, error) {
	report := Report{Rows: c.rows, Labelled: c.label.rows, UnseenClass: c.label.unseen, LeftOut: slices.Clone(c.leftOut)}
	if c.fault != nil {
		return nil, report, c.fault
	}
	if c.rows == 0 {
		return nil, report, c.noRows()
	}
	o := &c.options
	e := &Encoder{Clip: o.Clip, Standardize: o.Standardize, Passthrough: slices.Clone(o.Passthrough)}
	e.NullWords = slices.Clone(o.NullWords)
	if o.Clip > 0 {
		e.Tail = TailLog
	}
	if o.NaN == NaNMissing {
		e.NaN = NaNMissing
	}
	if err := c.fill(e, &report); err != nil {
		return nil, report, err
	}
	if len(o.Label) > 0 {
		if missing := c.missing(o.Label); len(missing) > 0 {
			return nil, report, fmt.Errorf("label column %s is in none of the calibration records; the columns are %s",
				strings.Join(missing, ", "), c.names)
		}
		label, err := c.label.label()
		if err != nil {
			return nil, report, err
		}
		e.Label = label
		c.addEffects(e)
	}
	report.Columns = c.columnUses(&report, e)
	if err := e.Validate(); err != nil {
		return nil, report, err
	}
	c.warn(e, &report)
	return e, report, nil
}

// noRows returns the error of a calibration without rows.
func (c *Calibrator) noRows() error {
	if c.refused != nil {
		return fmt.Errorf("no calibration rows, the first record refused: %w", c.refused)
	}
	return errors.New("no calibration rows")
}

// fill gives e its columns and reports on them.
func (c *Calibrator) fill(e *Encoder, report *Report) error {
	for _, l := range c.columns {
		report.NonFinite += l.nonFinite
		v := l.verdict()
		column, reason := l.column(c.rows, c.share(), &c.options)
		if repeats := l.repeats(&v, reason, c.share()); repeats > 0 {
			report.Groups = append(report.Groups, Grouping{l.name, repeats})
		}
		if reason == "" {
			reason = c.misspelt(l)
		}
		value := ""
		if reason == "" {
			value = l.single(&column, &v, c.rows)
		}
		if value != "" {
			reason = fmt.Sprintf("it has one value, %s, in all calibration rows that have one"+overrule, value)
		}
		if reason == "" {
			e.Columns = append(e.Columns, column)
			e.Dim += column.Width
			report.Constant = append(report.Constant, l.constant(&column, &v, c.rows)...)
			continue
		}
		report.LeftOut = append(report.LeftOut, LeftOut{l.name, reason})
	}
	if len(e.Columns) == 0 {
		return noFeatures(report.LeftOut)
	}
	return nil
}

// misspelt returns why a column is probably one with a wrong name, or "": few rows have it, and as
// many lack one of its kind with nearly its name. In JSON a misspelt key is a column of its own,
// which serving would ask for.
func (c *Calibrator) misspelt(l *learned) string {
	v := l.verdict()
	present := c.rows - l.absent(&v, c.rows)
	if l.explicit || l.want.kind == Vector || len(c.columns) > misspeltColumns ||
		mostMisspelt*float64(c.rows) < float64(present) {
		return ""
	}
	var common []string
	for _, other := range c.columns {
		of := other.verdict()
		if absent := other.absent(&of, c.rows); other.want.kind == l.want.kind && absent >= present && 2*absent <= c.rows {
			common = append(common, other.name)
		}
	}
	near := nearest.Name(l.name, common)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(
		"it looks like a misspelt %q: %.2g %% of the rows have it, and as many lack that"+overrule,
		near, 100*float64(present)/float64(c.rows),
	)
}

const (
	// mostMisspelt is the largest share of rows that have a wrong name.
	mostMisspelt = 0.1
	// misspeltColumns bounds the names that are compared with each other.
	misspeltColumns = 1000
)

// noFeatures says why calibration found no feature columns.
func noFeatures(leftOut []LeftOut) error {
	if len(leftOut) == 0 {
		return errors.New("no feature column is left: the rows have none besides the label and what is excluded")
	}
	reasons := make([]string, len(leftOut))
	for i, left := range leftOut {
		reasons[i] = fmt.Sprintf("%q: %s", left.Column, left.Reason)
	}
	return fmt.Errorf("no feature columns remain; excluded: %s", listed(reasons, "; "))
}

// missing returns the names, quoted, that no record had.
func (c *Calibrator) missing(names []string) []string {
	var none []string
	for _, name := range names {
		if !c.named[name] {
			none = append(none, fmt.Sprintf("%q", name))
		}
	}
	return none
}

// warn adds the warnings that are not errors.
func (c *Calibrator) warn(e *Encoder, report *Report) {
	add := func(format string, args ...any) {
		report.Warnings = append(report.Warnings, fmt.Sprintf(format, args...))
	}
	if none := c.missing(c.options.Passthrough); len(none) > 0 {
		add("passthrough names columns that no calibration record has: %s", listed(none, ", "))
	}
	if none := c.missing(c.options.Include); len(none) > 0 {
		add("include names columns that no calibration record has: %s", listed(none, ", "))
	}
	if none := c.missing(c.options.Exclude); len(none) > 0 {
		add("exclude names columns that no calibration record has: %s", listed(none, ", "))
	}
	c.spreadWarnings(e, report)
	if e.Label == nil {
		return
	}
	if c.label.unseen > 0 && !c.options.classesFound {
		add("%d calibration rows have a class that is not among %s", c.label.unseen, listed(e.Label.Classes, ", "))
	}
	if seen := c.label.seenClasses(); len(seen) == 1 {
		add("every labelled calibration row has class %s", seen[0])
	}
	for i, mean := range e.Label.Mean {
		if c.label.moments[i].constant() {
			add("label %q is %v in every calibration row", e.Label.Columns[i], e.Label.Transform.Invert(mean))
		}
	}
}

package encoder

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

// learnedLabel is what calibration knows about the label so far.
type learnedLabel struct {
	options *Options
	// kind is kindAny until a record has the label with a type of values.
	kind Kind
	// classes is the table of the configured classes, empty if there are none.
	classes classTable
	// texts and numbers count the rows of each class, bools those of false and true.
	texts   *distinctTexts
	numbers map[float64]int64
	bools   [2]int64
	// beyond is set if there are more than MaxClasses numbers, tooLarge if there is one beyond
	// maxWhole.
	beyond, tooLarge bool
	// beyondRows is the number of rows seen when there were more than MaxClasses.
	beyondRows int64
	first      firstTexts
	// moments are those of each output of a regression.
	moments []moment
	// values are for a regression with one output.
	values labelValues
	// rows counts usable labels, unseen those with a class that is not configured or cannot be
	// learned.
	rows, unseen int64
	// outputs and missing are scratch for the current rows.
	outputs []float64
	missing []bool
}

// newLearnedLabel returns an empty state for the label of o.
func newLearnedLabel(o *Options) learnedLabel {
	l := learnedLabel{
		options: o, moments: make([]moment, len(o.Label)),
		texts: newDistinctTexts(MaxClasses), numbers: make(map[float64]int64),
		values: newLabelValues(),
	}
	if l.regresses() {
		l.kind = Numeric
	}
	return l
}

// regresses reports whether the label is known to be a regression's.
func (l *learnedLabel) regresses() bool {
	return l.options.Task == TaskRegression || len(l.options.Label) > 1 ||
		l.options.Task == TaskAuto && l.kind == Numeric
}

// kindOf returns the label's kind in a schema, given where its columns are, or a fault.
func (l *learnedLabel) kindOf(schema *arrow.Schema, columns []int) (Kind, string) {
	if l.kind != kindAny || len(columns) == 0 {
		return l.kind, ""
	}
	field := schema.Field(columns[0])
	t, _ := typeOf(field.Type)
	for _, name := range l.options.Classes {
		if t.kind == kindAny {
			break
		}
		if _, err := canonicalClass(t.kind, name); err != nil {
			return kindAny, fmt.Sprintf("label column %q: %v", field.Name, err)
		}
	}
	return t.kind, ""
}

// become gives the label its kind.
func (l *learnedLabel) become(kind Kind) {
	if l.kind == kind {
		return
	}
	l.kind = kind
	if len(l.options.Classes) > 0 {
		names := l.configured()
		l.classes = newClassTable(&Label{Kind: kind, Task: scoring.MultiClass, Classes: names})
	}
}

// configured returns the configured classes in canonical form.
func (l *learnedLabel) configured() []string {
	names := make([]string, len(l.options.Classes))
	for i, name := range l.options.Classes {
		names[i], _ = canonicalClass(l.kind, name) // checked by kindOf
	}
	return names
}

// learn adds the given rows of the label columns.
func (l *learnedLabel) learn(columns []arrow.Array, rows picked, s *scratch) {
	switch {
	case len(columns) == 0 || l.kind == kindAny:
	case l.regresses():
		l.learnOutputs(columns, rows, s)
	case l.kind == Bool:
		s.codes = resize(s.codes, rows.len())
		loadBools(s.codes, columns[0], rows, 0, 1)
		for _, k := range s.codes {
			if k != nullCode && l.known(code(l.classes.names, className(k == 1), true)) {
				l.bools[k]++
			}
		}
	case l.kind == Category:
		l.learnNames(columns[0], rows)
	default:
		l.learnNumbers(columns[0], rows, s)
	}
}

// known counts a label and reports whether its class may be learned.
func (l *learnedLabel) known(k int32) bool {
	if len(l.options.Classes) > 0 && k < 0 {
		l.unseen++
		return false
	}
	l.rows++
	return true
}

// learnNames adds class names.
func (l *learnedLabel) learnNames(a arrow.Array, rows picked) {
	t := textsOf(a)
	for i := range rows.len() {
		value, ok := t.at(rows.row(i))
		if !ok {
			continue
		}
		if !utf8.ValidString(value) {
			l.unseen++
			continue
		}
		if l.known(code(l.classes.names, value, true)) {
			l.first.add(value)
			l.texts.add(value)
			l.noteBeyond(l.texts.beyond)
		}
	}
}

// noteBeyond records the number of rows when there were too many classes.
func (l *learnedLabel) noteBeyond(beyond bool) {
	if beyond && l.beyondRows == 0 {
		l.beyondRows = l.rows
	}
}

// learnNumbers adds numeric classes.
func (l *learnedLabel) learnNumbers(a arrow.Array, rows picked, s *scratch) {
	short := isShort(a.DataType())
	values, null := s.numbers(a, rows, 1)
	for i, v := range values {
		if null != nil && null[i] || !finite(v) {
			continue
		}
		v = classValue(v, short)
		l.tooLarge = l.tooLarge || v > maxWhole || v < -maxWhole
		if !l.known(l.classes.number(v)) {
			continue
		}
		if _, seen := l.numbers[v]; !seen && len(l.numbers) >= MaxClasses {
			l.beyond = true
			l.noteBeyond(true)
			continue
		}
		l.numbers[v]++
	}
}

// learnOutputs adds the rows of a regression that have every output.
func (l *learnedLabel) learnOutputs(columns []arrow.Array, rows picked, s *scratch) {
	k := len(columns)
	lo, hi := (&Label{Min: l.options.LabelMin, Max: l.options.LabelMax}).bounds()
	transform := transformOf(l.options.LabelTransform)
	l.outputs = resize(l.outputs, rows.len()*k)
	l.missing = resize(l.missing, rows.len())
	clear(l.missing)
	for j, a := range columns {
		values, null := s.numbers(a, rows, 1)
		for i, v := range values {
			l.outputs[i*k+j] = transform.apply(v)
			unusable := null != nil && null[i] || !learnableNumber(v) || v < lo || v > hi || !transform.has(v)
			l.missing[i] = l.missing[i] || unusable
		}
	}
	for i := range rows.len() {
		if l.missing[i] {
			continue
		}
		l.rows++
		for j := range k {
			l.moments[j].add(l.outputs[i*k+j])
		}
		if k == 1 {
			l.values.add(l.outputs[i])
		}
	}
}

// label returns the learned label, or why there is none.
func (l *learnedLabel) label() (*Label, error) {
	o := l.options
	label := &Label{Columns: slices.Clone(o.Label), Kind: l.kind, Task: scoring.Regression}
	if l.rows < 2 {
		return nil, fmt.Errorf("label %s: %d labelled calibration rows, want at least 2%s; is events.label (--label) the column to predict?",
			listed(o.Label, ", "), l.rows, l.unseenNote())
	}
	if l.regresses() {
		for i := range l.moments {
			label.Mean = append(label.Mean, l.moments[i].mean)
		}
		label.Min, label.Max = clonePointer(o.LabelMin), clonePointer(o.LabelMax)
		label.Transform = transformOf(o.LabelTransform)
		return label, nil
	}
	if o.LabelMin != nil || o.LabelMax != nil {
		return nil, l.faulty("is a class, events.label_min and events.label_max are for regression")
	}
	if transformOf(o.LabelTransform) != "" {
		return nil, fmt.Errorf("label %q: label_transform is for regression, the label is a class", o.Label[0])
	}
	classes, err := l.classNames()
	if err != nil {
		return nil, err
	}
	label.Classes = classes
	label.Task = scoring.MultiClass
	if len(classes) == 2 {
		label.Task = scoring.Binary
	}
	return label, nil
}

// unseenNote says how many rows had a class that is not configured.
func (l *learnedLabel) unseenNote() string {
	if l.unseen == 0 {
		return ""
	}
	if len(l.options.Classes) == 0 {
		return fmt.Sprintf(" (%d rows have a class name that is not valid UTF-8)", l.unseen)
	}
	return fmt.Sprintf(" (%d rows have a class that is not among the configured %s)", l.unseen, listed(l.options.Classes, ", "))
}

// classNames returns the configured classes, or those seen.
func (l *learnedLabel) classNames() ([]string, error) {
	if len(l.options.Classes) > 0 {
		names := l.configured()
		if name, found := repeated(names); found {
			return nil, l.faulty("has a class twice: events.classes names %q twice", name)
		}
		return names, nil
	}
	if err := l.classFault(); err != nil {
		return nil, err
	}
	names, _ := l.seenClasses()
	return names, nil
}

// seenClasses returns the names of the classes seen, in order, and whether there were too many.
func (l *learnedLabel) seenClasses() ([]string, bool) {
	var names []string
	switch l.kind {
	case Category:
		return l.texts.values(), l.texts.beyond
	case Bool:
		for i, n := range l.bools {
			if n > 0 {
				names = append(names, className(i == 1))
			}
		}
	default:
		for _, v := range slices.Sorted(maps.Keys(l.numbers)) {
			names = append(names, classNumber(v))
		}
	}
	return names, l.beyond
}

// clonePointer returns a pointer to a copy.
func clonePointer(v *float64) *float64 {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

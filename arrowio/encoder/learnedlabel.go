package encoder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
)

// learnedLabel is the state of calibration for the label.
type learnedLabel struct {
	options *Options
	// kind is kindAny until a record has the label with a type of values.
	kind Kind
	// configured numbers the configured classes by their canonical names; empty if there are none.
	configured map[string]int32
	// classes counts the rows of each class by its canonical name. With more than MaxClasses of
	// them it is approximate, and beyondRows is the number of rows seen when that began.
	classes    textCounts
	beyondRows int64
	// text is for a label of strings without configured classes, which may be numbers.
	text *learnedForms
	// tooLarge is set if there is a number beyond maxWhole, tooLong if there is a text beyond
	// MaxCategoryBytes.
	tooLarge, tooLong bool
	example           string // the first class
	// moments belong to the outputs of a regression.
	moments []moment
	// values are for a regression with one output.
	values labelValues
	// rows counts usable labels, unseen the labels whose class is not configured or cannot be
	// learned.
	rows, unseen int64
	refused      int64  // numbers out of bounds or not finite
	firstRefused string // the first label that is refused or unseen, quoted
	// outputs and missing are scratch for the current rows.
	outputs []float64
	missing []bool
}

// newLearnedLabel returns an empty state for the label of o.
func newLearnedLabel(o *Options) learnedLabel {
	l := learnedLabel{
		options: o, moments: make([]moment, len(o.Label)),
		classes: newTextCounts(MaxClasses), values: newLabelValues(),
	}
	if l.regresses() {
		l.kind = Numeric
	}
	return l
}

// regresses reports whether the label is known to be a regression's.
func (l *learnedLabel) regresses() bool {
	if l.kind == Category {
		return false // unless its texts are numbers, see [Options.FindClasses]
	}
	return l.options.Task == TaskRegression || len(l.options.Label) > 1 ||
		l.options.Task == TaskAuto && l.kind == Numeric
}

// want is the type that a record must have for the label.
func (l *learnedLabel) want() columnType {
	return columnType{kind: l.kind, width: 1, text: l.kind == Numeric && l.options.Task == TaskRegression}
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
	l.configured = numbered(l.configuredClasses())
	if kind == Category && len(l.configured) == 0 && len(l.options.Label) == 1 {
		l.text = &learnedForms{}
	}
}

// configuredClasses returns the configured classes in canonical form.
func (l *learnedLabel) configuredClasses() []string {
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
	default:
		l.learnClasses(columns[0], rows, s)
	}
}

// learnClasses adds the names of classes.
func (l *learnedLabel) learnClasses(a arrow.Array, rows picked, s *scratch) {
	name := classNames(l.kind, a, rows, s)
	for i := range rows.len() {
		class, ok := name(i)
		if !ok || l.options.nulls.adds(class) {
			continue
		}
		l.tooLarge = l.tooLarge || l.kind == Numeric && math.Abs(s.loaded[i]) > maxWhole
		if _, known := l.configured[class]; !known && len(l.configured) > 0 || !utf8.ValidString(class) {
			l.refuse(class)
			l.unseen++
			continue
		}
		if l.rows == 0 {
			l.example = strings.Clone(class)
		}
		l.rows++
		if l.text != nil {
			l.text.add(class)
		}
		if len(class) > MaxCategoryBytes {
			l.tooLong = true
			continue
		}
		l.classes.add(class, 1)
		if l.classes.lost > 0 && l.beyondRows == 0 {
			l.beyondRows = l.rows
		}
	}
}

// classNames returns a function that gives the canonical name of a row's class, or false if it has
// none that can be named. For text it is a view of the column's memory. The numbers of a numeric
// label are left in s.loaded.
func classNames(kind Kind, a arrow.Array, rows picked, s *scratch) func(i int) (string, bool) {
	switch kind {
	case Category:
		t := textsOf(a)
		return func(i int) (string, bool) { return t.at(rows.row(i)) }
	case Bool:
		s.codes = resize(s.codes, rows.len())
		loadBools(s.codes, a, rows, 0, 1)
		return func(i int) (string, bool) { return className(s.codes[i] == 1), s.codes[i] != nullCode }
	}
	short := isShort(a.DataType())
	values, null := s.numbers(a, rows, 1, &Form{})
	return func(i int) (string, bool) {
		if null != nil && null[i] || !finite(values[i]) {
			return "", false
		}
		return classNumber(classValue(values[i], short)), true
	}
}

// learnOutputs adds the rows of a regression that have every output.
func (l *learnedLabel) learnOutputs(columns []arrow.Array, rows picked, s *scratch) {
	k := len(columns)
	lo, hi := (&Label{Min: l.options.LabelMin, Max: l.options.LabelMax}).bounds()
	transform := transformOf(l.options.LabelTransform)
	form := l.options.labelForm
	form.nulls = l.options.nulls
	l.outputs = resize(l.outputs, rows.len()*k)
	l.missing = resize(l.missing, rows.len())
	clear(l.missing)
	for j, a := range columns {
		values, null := s.numbers(a, rows, 1, &form)
		for i, v := range values {
			l.outputs[i*k+j] = transform.apply(v)
			missing := null != nil && null[i]
			refused := !missing && (!learnableNumber(v) || v < lo || v > hi || !transform.has(v))
			if refused && !l.missing[i] {
				l.refuse(strconv.FormatFloat(v, 'g', -1, 64))
				l.refused++
			}
			l.missing[i] = l.missing[i] || missing || refused
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

// refuse remembers the first unusable label.
func (l *learnedLabel) refuse(label string) {
	if l.refused+l.unseen == 0 {
		l.firstRefused = arrowio.Quote(label)
	}
}

// label returns the learned label, or why it cannot be learned.
func (l *learnedLabel) label() (*Label, error) {
	o := l.options
	label := &Label{Columns: slices.Clone(o.Label), Kind: l.kind, Form: o.labelForm, Task: scoring.Regression}
	if l.rows < 2 {
		return nil, fmt.Errorf("label %s: %d labelled calibration rows, want at least 2%s; is "+
			"events.label (--label) the column to predict?",
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
		return nil, fmt.Errorf("label %q: label_transform is for regression, but the label is a class", o.Label[0])
	}
	classes, err := l.learnedClasses()
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

// numbers returns the numbers of a label of strings, if nearly all strings are numbers; else nil.
func (l *learnedLabel) numbers() *verdict {
	if l.text == nil {
		return nil
	}
	v := l.text.asNumbers(l.options.preferComma)
	if !l.text.nearly(v.fits) || l.text.codes*codeShare > v.fits {
		return nil
	}
	return &v
}

// regression returns the numbers of a label of strings that is a regression's: if the task says so,
// or if they are too many different ones for classes. Otherwise it returns nil.
func (l *learnedLabel) regression() *verdict {
	v := l.numbers()
	if v == nil || l.options.Task == TaskRegression ||
		l.options.Task == TaskAuto && (l.classes.lost > 0 || len(l.classes.rows) > classesAtMost) {
		return v
	}
	return nil
}

// misfits lists the commonest strings that are no numbers.
func (l *learnedLabel) misfits(v *verdict) string { return misfits(&l.classes, v) }

// unseenNote reports how many rows had a class that is not configured.
func (l *learnedLabel) unseenNote() string {
	if l.unseen == 0 {
		return ""
	}
	if len(l.options.Classes) == 0 {
		return fmt.Sprintf(" (%d rows have a class name that is not valid UTF-8)", l.unseen)
	}
	return fmt.Sprintf(
		" (%d rows have a class that is not among the configured %s)",
		l.unseen, listed(l.options.Classes, ", "),
	)
}

// learnedClasses returns the configured classes, or the classes seen.
func (l *learnedLabel) learnedClasses() ([]string, error) {
	if len(l.configured) == 0 {
		return l.seenClasses(), l.classFault()
	}
	names := l.configuredClasses()
	if name, found := repeated(names); found {
		return nil, l.faulty("has a class twice: events.classes names %q twice", name)
	}
	return names, nil
}

// seenClasses returns the names of the classes seen in enough rows, in order; none if there were
// too many.
func (l *learnedLabel) seenClasses() []string {
	if l.classes.lost > 0 {
		return nil
	}
	names, _ := l.commonClasses()
	slices.Sort(names)
	if l.kind == Numeric {
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(classValueOf(a), classValueOf(b)) })
	}
	return names
}

// commonClasses divides the classes seen into classes to learn and classes with too few rows, each
// with the commonest first. At least two are learned, if two were seen.
func (l *learnedLabel) commonClasses() (common, rare []string) {
	names, n := l.classes.byRows(), 0
	if numbers := l.numbers(); numbers != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return !numbers.form.fits(Numeric, name) })
	}
	for n < len(names) && (n < 2 || l.classes.count(names[n]) >= l.options.ClassMinRows) {
		n++
	}
	return names[:n], names[n:]
}

// rareNote names the classes that are left out or have few rows, "" if none.
func (l *learnedLabel) rareNote() string {
	if l.regresses() || l.classes.lost > 0 || len(l.options.Classes) > 0 {
		return ""
	}
	common, rare := l.commonClasses()
	if numbers := l.numbers(); numbers != nil && numbers.fits < l.rows {
		return fmt.Sprintf(
			"label %q: %s without a number teach nothing and count as errors, because all others have one: %s; "+
				"list events.classes to learn them",
			l.options.Label[0],
			rowsText(l.rows-numbers.fits),
			l.misfits(numbers),
		)
	}
	if len(rare) > 0 {
		return l.rareClasses(rare)
	}
	if last := common[max(0, len(common)-1):]; len(common) == 2 && l.classes.count(last[0]) < l.options.ClassMinRows {
		return fmt.Sprintf(
			"label %q has %q in only %d of %d labelled rows: is it a class, or a misspelt one?",
			l.options.Label[0], last[0], l.classes.count(last[0]), l.rows,
		)
	}
	return ""
}

// namedClasses bounds the classes that a note names.
const namedClasses = 5

// rareClasses is a note about classes with too few rows.
func (l *learnedLabel) rareClasses(rare []string) string {
	var rows int64
	var named []string
	for i, name := range rare {
		rows += l.classes.count(name)
		if i < namedClasses {
			named = append(named, fmt.Sprintf("%q in %s", name, rowsText(l.classes.count(name))))
		}
	}
	if n := len(rare) - len(named); n > 0 {
		named = append(named, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("label %q: %s of classes with fewer than %d rows teach nothing and count as errors: %s; lower "+
		"events.class_min_rows or list events.classes to learn them",
		l.options.Label[0], rowsText(rows), l.options.ClassMinRows, strings.Join(named, ", "))
}

// rowsText is a number of rows.
func rowsText(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// classValueOf returns the number that a class is named after.
func classValueOf(name string) float64 {
	v, _ := strconv.ParseFloat(name, 64) // made by classNumber
	return v
}

// clonePointer returns a pointer to a copy.
func clonePointer(v *float64) *float64 {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

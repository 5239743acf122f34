package encoder

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// LabelError is why a label cannot be learned, and which configuration key to change. Waiting for
// more rows of the same kind would not help.
type LabelError struct {
	Columns []string
	Why     string
}

func (e *LabelError) Error() string {
	quoted := make([]string, len(e.Columns))
	for i, name := range e.Columns {
		quoted[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("label %s %s", listed(quoted, ", "), e.Why)
}

// otherLabel is the advice for a column that is no label.
const otherLabel = "set events.label (--label) to the column to predict"

// labelTypeFault returns why a column of the type cannot be predicted, "" if it can.
func labelTypeFault(t arrow.DataType) string {
	seen, readable := typeOf(t)
	switch t.ID() {
	case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64:
		return fmt.Sprintf("is %s, a date or a time: %s", t, otherLabel)
	}
	switch {
	case readable && seen.kind != Vector:
		return ""
	case seen.kind == Vector:
		return fmt.Sprintf(
			"is %s, a vector: want numbers, booleans or strings; %s, several columns of numbers for several outputs",
			t, otherLabel,
		)
	}
	return fmt.Sprintf("is %s: want numbers, booleans or strings; %s", t, otherLabel)
}

// classFault returns the fault of classes that were not configured, nil if they have none.
func (l *learnedLabel) classFault() error {
	names := l.seenClasses()
	beyond := l.beyondRows > 0
	switch {
	case l.tooLarge:
		return l.faulty("has numbers of 2^53 and beyond, which cannot be told apart as classes: send them as strings")
	case l.tooLong:
		return l.faulty(
			"has a text of more than %d bytes, too long for the name of a class: %s",
			MaxCategoryBytes, otherLabel,
		)
	case len(names) == 1:
		return l.faulty(
			"has one value (%s) in all %d labelled rows: %s, or events.classes to all existing classes",
			names[0], l.rows, otherLabel,
		)
	case l.nearUnique(len(l.classes.rows)):
		return l.faulty("looks like an identifier: nearly all of its first %d values differ, such as %q: %s%s",
			cmp.Or(l.beyondRows, l.rows), l.example, otherLabel, l.orRegression())
	case beyond:
		return l.faulty("has more than %d different values in %d labelled rows, such as %q, too many for classes: %s%s",
			MaxClasses, l.rows, l.example, otherLabel, l.orRegression())
	case len(names) > l.options.MaxClasses:
		return l.faulty("has %d classes in %d labelled rows, and events.max_classes allows %d: raise it, as memory for "+
			"each class permits; %s%s", len(names), l.rows, l.options.MaxClasses, otherLabel, l.orRegression())
	case len(names) == 0: // no class is valid UTF-8
		return l.faulty("has no class that can be learned%s", l.unseenNote())
	}
	return nil
}

// orRegression is another remedy for numbers.
func (l *learnedLabel) orRegression() string {
	if l.kind != Numeric {
		return ""
	}
	return ", or events.task (--task) to regression"
}

// nearUnique applies the near-unique rule to classes: this many were seen or, if there were too
// many, MaxClasses in the rows up to that point.
func (l *learnedLabel) nearUnique(classes int) bool {
	rows := l.rows
	if l.beyondRows > 0 {
		classes, rows = MaxClasses, l.beyondRows
	}
	return rows >= identifierRows && int64(classes)*100 > nearUniquePercent*rows
}

// numberFault returns the fault of a regression's label, nil if it has none.
func (l *learnedLabel) numberFault() error {
	for i := range l.moments {
		if m := &l.moments[i]; m.n > 0 && m.constant() {
			return &LabelError{
				l.options.Label[i : i+1],
				fmt.Sprintf(
					"has one value (%.6g) in all %d labelled rows: %s",
					transformOf(l.options.LabelTransform).Invert(m.lo), l.rows, otherLabel,
				),
			}
		}
	}
	if l.options.Task == TaskAuto && len(l.moments) == 1 && l.values.counts(l.rows, l.moments[0]) {
		return l.faulty("looks like an identifier: its whole numbers from %s to %s nearly all differ and "+
			"count the rows: %s, or events.task (--task) to regression if these numbers are to be predicted",
			classNumber(l.moments[0].lo), classNumber(l.moments[0].hi), otherLabel)
	}
	return nil
}

func (l *learnedLabel) faulty(format string, args ...any) error {
	return &LabelError{l.options.Label, fmt.Sprintf(format, args...)}
}

// formNote describes how the strings of a regression's label are read.
func (l *learnedLabel) formNote(v *verdict) string {
	note := fmt.Sprintf("label %q: %s", l.options.Label[0], strings.TrimSpace("numbers in text "+v.form.words()))
	if bad := l.rows - v.fits; bad > 0 {
		note += fmt.Sprintf("; %s without a number are unlabelled: %s", rowsText(bad), l.misfits(v))
	}
	return note + "; events.task (--task) overrules"
}

// With fewer labelled rows no hint is given about a label with few distinct numbers; few means at
// most classesAtMost.
const classesFromRows, classesAtMost = 200, 20

// hint reports classes that are left out, or numbers that may be classes; "" if neither applies.
func (l *learnedLabel) hint() string {
	if note := l.rareNote(); note != "" {
		return note
	}
	if !l.regresses() || l.options.Task != TaskAuto || len(l.moments) != 1 || l.rows < classesFromRows || !l.values.few() {
		return ""
	}
	return fmt.Sprintf("label %q holds numbers and is taken for a regression's, with only %d distinct "+
		"values in %d labelled rows: "+
		"set events.task (--task) to classification if they are classes, or to regression to "+
		"confirm it", l.options.Label[0], len(l.values.seen), l.rows)
}

package encoder

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
)

// Finding counts values of one sort and keeps the first of them.
type Finding struct {
	Values int64
	Row    int64 // of the first value
	First  string
}

// isFirst counts a value of a row, and reports whether it is the first so far.
func (f *Finding) isFirst(row int64) bool {
	f.Values++
	if f.Values > 1 && row >= f.Row {
		return false
	}
	f.Row = row
	return true
}

// quoted returns a text for a report.
func quoted(text string) string { return strconv.Quote(shortened(text)) }

// reject counts a value for which a row is rejected.
func (t *Tally) reject(row int64, fault uint8, v float64) {
	if t.Rejected.isFirst(row) {
		t.Reason, t.Rejected.First = reasons[fault], classNumber(v)
	}
}

// Tally is the use of the values of a column. Vectors count their numbers.
type Tally struct {
	Column          string
	Label           bool
	Values, Imputed int64
	// Misfits are texts that are not of the column's kind and count as missing, Unseen categories
	// or classes that the encoder does not know, Rejected values for which their rows are rejected.
	Misfits, Unseen, Rejected Finding
	Reason                    string // why the first row was rejected

	classes bool // the unseen values are classes
}

// MuchOfAll is the share of the rows from which a finding is a warning.
const MuchOfAll = 0.1

// Much reports whether more than a tenth of the values are unusable or unknown.
func (t *Tally) Much() bool {
	return float64(max(t.Misfits.Values, t.Unseen.Values, t.Rejected.Values)) > MuchOfAll*float64(t.Values)
}

// Notes describes for people the values that were not used as they are, except missing ones.
func (t *Tally) Notes() (notes []string) {
	name := t.Column
	if t.Label {
		name = "label " + name
	}
	share := func(f *Finding) string {
		return fmt.Sprintf("%d of %d values (%s %%)", f.Values, t.Values, percent(f.Values, t.Values))
	}
	first := func(f *Finding) string { return fmt.Sprintf("; the first is %s in row %d", f.First, f.Row) }
	if f := &t.Rejected; f.Values > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s are %s, and their rows are left out%s%s",
			name, share(f), unusableWords[t.Reason], first(f), unusableAdvice[t.Reason]))
	}
	if f := &t.Misfits; f.Values > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s are not of its kind and count as missing%s", name, share(f), first(f)))
	}
	if f := &t.Unseen; f.Values > 0 {
		what := "categories without their own dimension and count as other"
		if t.classes {
			what = "of unknown classes"
		}
		notes = append(notes, fmt.Sprintf("%s: %s are %s%s", name, share(f), what, first(f)))
	}
	return notes
}

// unusableWords describe the values of rejected rows by reason, unusableAdvice how to use them.
var unusableWords = map[string]string{
	NaNFeature: "NaN", InfFeature: "infinite or too large", NaNLabel: "NaN", InfLabel: "infinite or too large",
	LabelOutOfBounds: "out of bounds", WrongKind: "not of its kind",
}

var unusableAdvice = map[string]string{
	NaNFeature: "; events.nan (missing) uses them as missing values",
	InfFeature: "; events.null_values (--null-values inf,-inf) uses them as missing values",
}

// percent returns a share with two digits.
func percent(n, of int64) string {
	return strconv.FormatFloat(100*float64(n)/float64(max(of, 1)), 'g', 2, 64)
}

// addMisfits adds the texts of the missing values among the rows of the block.
func (b *block) addMisfits(a arrow.Array, missing []bool) {
	t := textsOf(a)
	for i, is := range missing {
		if !is {
			continue
		}
		if text, ok := t.at(b.rows.row(i)); ok && b.tally.Misfits.isFirst(b.number(i)) {
			b.tally.Misfits.First = quoted(text)
		}
	}
}

// number returns the number of row i of the block.
func (b *block) number(i int) int64 { return b.rowNumber(int32(b.rows.row(i))) }

// rowNumber returns the number of a row of the current record.
func (r *Rows) rowNumber(row int32) int64 {
	if r.Number != nil {
		return r.Number(row)
	}
	return r.binding.before + int64(row)
}

// Merge adds the tallies of other rows with the same encoder to all, which may be empty.
func Merge(all, other []Tally) []Tally {
	if len(all) == 0 {
		return other
	}
	for i := range other {
		to, from := &all[i], &other[i]
		to.Values += from.Values
		to.Imputed += from.Imputed
		to.Misfits.merge(&from.Misfits)
		to.Unseen.merge(&from.Unseen)
		if to.Rejected.Values == 0 {
			to.Reason = from.Reason
		}
		to.Rejected.merge(&from.Rejected)
	}
	return all
}

func (f *Finding) merge(other *Finding) {
	if f.Values == 0 || other.Values > 0 && other.Row < f.Row {
		f.Row, f.First = other.Row, other.First
	}
	f.Values += other.Values
}

// Notes returns the notes of tallies: the ones on columns of which more than a tenth of the values
// are unusable or unknown as warnings, the others as notes.
func Notes(all []Tally) (warnings, notes []string) {
	for i := range all {
		if all[i].Much() {
			warnings = append(warnings, all[i].Notes()...)
		} else {
			notes = append(notes, all[i].Notes()...)
		}
	}
	return warnings, notes
}

// Tallies returns the number of rows that the current encoder has encoded since the last call, and
// the use of the values of its columns, and of its label, since then.
func (r *Rows) Tallies() (rows int64, all []Tally) {
	b := &r.binding
	if b.encoder == nil {
		return 0, nil
	}
	rows, imputed := r.TakeImputed()
	for i, tally := range b.tallies {
		tally.Column = b.encoder.columnName(i)
		tally.Values = rows
		if i < len(imputed) {
			tally.Values, tally.Imputed = imputed[i].Values, imputed[i].Imputed
		} else {
			tally.Label, tally.classes = true, len(b.encoder.Label.Classes) > 0
		}
		all = append(all, tally)
	}
	clear(b.tallies)
	return rows, all
}

// columnName returns the name of a column, the label columns last.
func (e *Encoder) columnName(i int) string {
	if i < len(e.Columns) {
		return e.Columns[i].Name
	}
	return e.Label.Columns[i-len(e.Columns)]
}

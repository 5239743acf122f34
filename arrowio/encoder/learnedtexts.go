package encoder

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// nearlyAll is the percentage of a column's strings that must be times for the column to be one of
// times.
const nearlyAll = 95

// learnedTexts is the state of calibration for a column of strings: they may be categories,
// numbers, dates, times of day, booleans, or none of these.
type learnedTexts struct {
	values textSketch
	forms  learnedForms
}

func newLearnedTexts(sketch int) *learnedTexts { return &learnedTexts{values: *newTextSketch(sketch)} }

// add learns from a string.
func (l *learnedTexts) add(v string) {
	l.forms.add(v)
	l.values.see(v)
}

// learn adds the given rows of a column, except missing values.
func (l *learnedTexts) learn(a arrow.Array, rows picked, nulls *nullWords) {
	t := textsOf(a)
	for i := range rows.len() {
		if value, ok := t.at(rows.row(i)); ok && !nulls.has(value) {
			l.add(value)
		}
	}
}

// categories returns the values with their own dimension, and whether the rest has one.
func (l *learnedTexts) categories(most int) (kept []string, other bool) {
	kept = l.values.commonest(most)
	return kept, len(kept) > 0 && (l.values.outside > 0 || int64(len(kept)) < l.values.distinct())
}

// rest returns how many values are not among the kept ones. It is too large by the error of
// approximate counts.
func (l *learnedTexts) rest(kept []string) int64 {
	rest := l.values.n
	for _, v := range kept {
		rest -= l.values.count(v)
	}
	return rest
}

// unusable returns why the strings cannot be a feature, or "". A column that the options name is
// left out only if it has no values.
func (l *learnedTexts) unusable(name string, explicit bool, share float64) string {
	s := &l.values
	switch {
	case s.n == 0:
		return noValue
	case s.outside == s.n && s.long < s.n:
		return "none of its values in the calibration rows is valid UTF-8"
	case s.outside == s.n || !explicit && 2*s.long > s.n:
		return fmt.Sprintf(
			"it holds text: %.0f %% of its values have more than %d bytes",
			100*float64(s.long)/float64(s.n), MaxCategoryBytes,
		)
	case len(s.rows) > 0 && (explicit || !s.identifies(name, share)):
		return ""
	}
	distinct, n := s.hashes.judged, s.hashes.n
	if average := s.bytes / s.n; average > identifierBytes {
		return fmt.Sprintf("it holds text: %d distinct strings in %d values, of %d bytes on average", distinct, n, average)
	}
	return fmt.Sprintf(
		identifierReason+": %d distinct strings in %d values%s"+overrule,
		distinct, n, l.numberNote(),
	)
}

// identifierBytes is the average length above which nearly unique strings are called text.
const identifierBytes = 40

// note returns a note about a column of strings that is a feature.
func (l *learnedTexts) note(v *verdict, kept int) string {
	if v.kind != Category {
		return l.formNote(v)
	}
	s, note := &l.values, ""
	switch {
	case s.approximate():
		note = fmt.Sprintf(
			"the %d commonest of more than %d values, counted approximately (within %d rows)",
			kept, s.limit, s.lost,
		)
	case int64(kept) < s.distinct():
		note = fmt.Sprintf("the %d commonest of %d values", kept, s.distinct())
	}
	return strings.TrimPrefix(note+l.numberNote(), "; ")
}

// wordsInText name the values of a column that are not plain categories.
var wordsInText = map[Kind]string{
	Time: "dates in text", Clock: "times of day in text", Numeric: "numbers in text", Bool: "booleans in text",
}

// formNote describes how the strings are read, and names those that count as missing.
func (l *learnedTexts) formNote(v *verdict) string {
	notes := []string{strings.TrimSpace(wordsInText[v.kind] + " " + v.form.words())}
	if bad := l.values.n - v.fits; bad > 0 {
		notes[0] += fmt.Sprintf("; %d of %d values are none and count as missing: %s%s",
			bad, l.values.n, misfits(&l.values.textCounts, v), overruleType)
	}
	return strings.Join(append(notes, v.notes...), "; ")
}

// overruleType says how a column keeps its texts.
const overruleType = "; events.types (--type) overrules"

// misfits lists the commonest values that are not of the kind.
func misfits(counts *textCounts, v *verdict) string {
	const most = 3
	var found []string
	for _, text := range counts.byRows() {
		if v.form.fits(v.kind, text) {
			continue
		}
		if len(found) == most {
			found = append(found, "...")
			break
		}
		found = append(found, fmt.Sprintf("%q in %s", shortened(text), rowsText(counts.count(text))))
	}
	return strings.Join(found, ", ")
}

// numberNote reports that most values are numbers, although too few for a column of numbers.
func (l *learnedTexts) numberNote() string {
	v := l.forms.asNumbers(false)
	if 2*v.fits <= l.values.n || l.forms.codes*codeShare > v.fits {
		return ""
	}
	return fmt.Sprintf("; %d of %d values are numbers, too few for a column of numbers, the others are %s"+overruleType,
		v.fits, l.values.n, misfits(&l.values.textCounts, &v))
}

// shortened returns the start of a value for a report.
func shortened(v string) string {
	const most = 40
	if runes := []rune(v); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return v
}

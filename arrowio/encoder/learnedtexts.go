package encoder

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// nearlyAll is the percentage of a column's strings that must be times for the column to be one of
// times.
const nearlyAll = 95

// learnedTexts is the state of calibration for a column of strings: they may be categories, dates,
// times of day, or none of these.
type learnedTexts struct {
	values textSketch
	// instants and clocks are the values that are dates or times of day; noTime is the first one
	// that is neither.
	instants, clocks learnedTimes
	noTime           string
	// numbers counts formatted numbers among the first values; formatted is the first one that is
	// more than digits.
	numbers   int64
	formatted string
}

func newLearnedTexts(sketch int) *learnedTexts { return &learnedTexts{values: *newTextSketch(sketch)} }

// add learns from a string.
func (l *learnedTexts) add(v string) {
	if seconds, nanos, ok := ParseInstant(v); ok {
		l.instants.add(inSeconds(seconds, nanos))
	} else if seconds, nanos, ok := parseClock(v); ok {
		l.clocks.add(inSeconds(seconds, nanos))
	} else if l.noTime == "" {
		l.noTime = shortened(v)
	}
	if l.values.n < judgedNumbers && len(v) <= MaxCategoryBytes {
		l.addNumber(v)
	}
	l.values.see(v)
}

// learn adds the given rows of a column.
func (l *learnedTexts) learn(a arrow.Array, rows picked) {
	t := textsOf(a)
	for i := range rows.len() {
		if value, ok := t.at(rows.row(i)); ok {
			l.add(value)
		}
	}
}

// times returns the statistics of the strings as times, and their kind, if they are times.
func (l *learnedTexts) times() (*learnedTimes, Kind) {
	for _, as := range []struct {
		kind  Kind
		times *learnedTimes
	}{{Time, &l.instants}, {Clock, &l.clocks}} {
		if n := as.times.seconds.all.n; n > 0 && n*100 >= nearlyAll*l.values.n {
			return as.times, as.kind
		}
	}
	return nil, kindAny
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
		"it looks like an identifier: %d distinct strings in %d values%s"+overrule,
		distinct, n, l.numberNote(),
	)
}

// identifierBytes is the average length above which nearly unique strings are called text.
const identifierBytes = 40

// note returns a note about a column of strings that is a feature.
func (l *learnedTexts) note(kind Kind, kept int) string {
	if isTime(kind) {
		n := l.instants.seconds.all.n
		if kind == Clock {
			n = l.clocks.seconds.all.n
		}
		if bad := l.values.n - n; bad > 0 {
			return fmt.Sprintf(
				"%s in text; %d of %d values are none and count as missing, the first is %q",
				timesInText[kind], bad, l.values.n, l.noTime,
			)
		}
		return timesInText[kind] + " in text"
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

var timesInText = map[Kind]string{Time: "dates", Clock: "times of day"}

// How many values are checked for numbers in text.
const judgedNumbers = 1000

// writtenNumber matches numbers as people write them: digits with or without grouping, a fraction,
// a currency or a percent sign.
var writtenNumber = regexp.MustCompile(
	`^[+-]?(?:\p{Sc} ?|[A-Z]{3} )?[+-]?(?:\d{1,3}(?:[,.'’ \x{a0}\x{202f}]\d{3})+|\d+)(?:[.,]\d+)?(?:[ ` +
		`\x{a0}\x{202f}]?(?:\p{Sc}|%|[A-Z]{3}))?$`,
)

// addNumber checks whether a value is a written number.
func (l *learnedTexts) addNumber(v string) {
	if !writtenNumber.MatchString(v) {
		return
	}
	l.numbers++
	if _, plain := digits(v); !plain && l.formatted == "" {
		l.formatted = shortened(v)
	}
}

// numberNote reports that most values are numbers written as text, if they are.
func (l *learnedTexts) numberNote() string {
	if l.formatted == "" || 2*l.numbers <= min(l.values.n, judgedNumbers) {
		return ""
	}
	return fmt.Sprintf(
		"; most values are numbers written as text, such as %q: as numbers they would tell more",
		l.formatted,
	)
}

// shortened returns the start of a value for a report.
func shortened(v string) string {
	const most = 40
	if runes := []rune(v); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return v
}

package encoder

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// isTime reports whether a column of the kind holds times.
func isTime(k Kind) bool { return k == Time || k == Clock }

// inSeconds returns seconds and nanoseconds as one number. Every representation of a time is
// converted here, so that a time has the same bits in each.
func inSeconds(seconds, nanos int64) float64 { return float64(seconds) + float64(nanos)/1e9 }

// unitSeconds returns a number of units of time in seconds.
func unitSeconds(v int64, unit arrow.TimeUnit) float64 {
	per := int64(1)
	switch unit {
	case arrow.Millisecond:
		per = 1e3
	case arrow.Microsecond:
		per = 1e6
	case arrow.Nanosecond:
		per = 1e9
	}
	seconds, rest := v/per, v%per
	if rest < 0 {
		seconds, rest = seconds-1, rest+per
	}
	return inSeconds(seconds, rest*(1e9/per))
}

// loadTimes fills dst with the times of the given rows in seconds, since 1970 or since midnight,
// and null with which are missing: nulls, and strings and numbers that are not a time of the kind
// in the form.
func loadTimes(dst []float64, null []bool, a arrow.Array, rows picked, kind Kind, form *Form) {
	switch a := a.(type) {
	case *array.Date32:
		gatherTimes(dst, null, a, a.Date32Values(), rows, func(v arrow.Date32) float64 { return float64(v) * secondsOfDay })
	case *array.Date64:
		gatherTimes(
			dst,
			null,
			a,
			a.Date64Values(),
			rows,
			func(v arrow.Date64) float64 { return unitSeconds(int64(v), arrow.Millisecond) },
		)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		gatherTimes(
			dst,
			null,
			a,
			a.TimestampValues(),
			rows,
			func(v arrow.Timestamp) float64 { return unitSeconds(int64(v), unit) },
		)
	case *array.Time32:
		unit := a.DataType().(*arrow.Time32Type).Unit
		gatherTimes(dst, null, a, a.Time32Values(), rows, func(v arrow.Time32) float64 { return unitSeconds(int64(v), unit) })
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit
		gatherTimes(dst, null, a, a.Time64Values(), rows, func(v arrow.Time64) float64 { return unitSeconds(int64(v), unit) })
	default:
		switch {
		case form.Counts() && isNumber(a.DataType()):
			loadNumberTimes(dst, null, a, rows, form)
		case kind == Clock:
			loadParsed(dst, null, a, rows, clockSeconds)
		default:
			loadParsed(dst, null, a, rows, form.time)
		}
	}
}

// clockSeconds reads a time of day in seconds since midnight.
func clockSeconds(text string) (float64, bool) {
	seconds, nanos, ok := parseClock(text)
	return inSeconds(seconds, nanos), ok
}

// loadNumberTimes loads times that are numbers.
func loadNumberTimes(dst []float64, null []bool, a arrow.Array, rows picked, form *Form) {
	loadNumbers(dst, a, rows)
	clear(null)
	markNulls(null, a, rows, 1)
	for i, v := range dst {
		if null[i] {
			continue
		}
		at, ok := form.since(v)
		dst[i], null[i] = at, !ok
	}
}

// gatherTimes loads the values of an array of times.
func gatherTimes[T any](dst []float64, null []bool, a arrow.Array, values []T, rows picked, seconds func(T) float64) {
	for i := range rows.len() {
		row := rows.row(i)
		null[i], dst[i] = a.IsNull(row), seconds(values[row])
	}
}

// loadParsed fills dst with the numbers that parse reads from strings, and null with which have
// none.
func loadParsed(dst []float64, null []bool, a arrow.Array, rows picked, parse func(string) (float64, bool)) {
	t := textsOf(a)
	for i := range rows.len() {
		text, ok := t.at(rows.row(i))
		if ok {
			dst[i], ok = parse(text)
		}
		null[i] = !ok
		if !ok {
			dst[i] = 0
		}
	}
}

// learnedTimes is the state of calibration for a column of times.
type learnedTimes struct {
	seconds spread
	cycles  [len(cycles)]learnedCycle
}

// learnedCycle is the state of calibration for the times of a column in one cycle.
type learnedCycle struct {
	// least and most are the bounds of the phases seen.
	least, most float64
	place       [len(cycleNames)]moment
}

// add adds a time in seconds.
func (l *learnedTimes) add(seconds float64) {
	for i := range cycles {
		phase, at := cycles[i].phase(seconds), &l.cycles[i]
		if l.seconds.all.n == 0 {
			at.least, at.most = phase, phase
		}
		at.least, at.most = min(at.least, phase), max(at.most, phase)
		for j, v := range placeOf(phase) {
			at.place[j].add(v)
		}
	}
	l.seconds.add(seconds)
}

// spanned returns the indices of the cycles that the times are informative about: their range
// covers a period, and they are not all at the same point of it. A time of day only has the day,
// for any range.
func (l *learnedTimes) spanned(kind Kind) []int {
	var found []int
	for i := range cycles {
		varies := l.cycles[i].most-l.cycles[i].least > samePhase
		covers := l.seconds.all.hi-l.seconds.all.lo >= cycles[i].seconds
		if kind == Clock {
			covers = cycles[i].cycle == Day
		}
		if varies && covers {
			found = append(found, i)
		}
	}
	return found
}

// samePhase is how far phases may differ because of rounding.
const samePhase = 1e-9

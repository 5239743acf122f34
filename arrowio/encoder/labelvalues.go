package encoder

import "math"

// labelValues records how the numbers of a regression's label differ: a few different ones may be
// classes; whole numbers that nearly all differ and count the rows are an identifier.
type labelValues struct {
	// seen are the distinct values among the first looked ones. Beyond the window it only grows as
	// long as they are few; it is nil once they are neither few nor nearly all different.
	seen   map[float64]struct{}
	looked int64
	// whole is set while all values are whole numbers, ascending while each is greater than the one
	// before, which is last.
	whole, ascending bool
	n                int64
	last             float64
}

// valuesWindow is how many values are considered per part of a log.
const valuesWindow = 1 << 13

func newLabelValues() labelValues {
	return labelValues{seen: make(map[float64]struct{}), whole: true, ascending: true}
}

// add considers a finite value.
func (l *labelValues) add(v float64) {
	l.whole = l.whole && v == math.Trunc(v)
	l.ascending = l.ascending && (l.n == 0 || v > l.last)
	l.n++
	l.last = v
	if l.seen == nil || l.looked >= valuesWindow && len(l.seen) > classesAtMost {
		return
	}
	l.looked++
	l.seen[v] = struct{}{}
	l.settle()
}

// settle gives up if the values are neither few nor nearly all different.
func (l *labelValues) settle() {
	if len(l.seen) > classesAtMost && l.looked >= identifierRows && !l.nearUnique() {
		l.seen = nil
	}
}

func (l *labelValues) nearUnique() bool { return int64(len(l.seen))*100 > nearUniquePercent*l.looked }

// merge adds the values of another part of the log.
func (l *labelValues) merge(other *labelValues) {
	l.whole, l.ascending = l.whole && other.whole, l.ascending && other.ascending
	l.n, l.looked = l.n+other.n, l.looked+other.looked
	if l.seen == nil || other.seen == nil {
		l.seen = nil
		return
	}
	for v := range other.seen {
		l.seen[v] = struct{}{}
	}
	l.settle()
}

// few reports whether there are few distinct values.
func (l *labelValues) few() bool { return l.seen != nil && len(l.seen) <= classesAtMost }

// counts reports whether the values look like row numbers: whole, nearly all different, almost
// without gaps, and in row order unless all of them were seen.
func (l *labelValues) counts(rows int64, of moment) bool {
	return l.seen != nil && l.whole && l.looked >= identifierRows && l.nearUnique() &&
		of.hi-of.lo < 2*float64(rows) && (l.ascending || l.looked == rows)
}

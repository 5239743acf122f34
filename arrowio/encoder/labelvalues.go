package encoder

import "math"

// labelValues looks at how the numbers of a regression's label differ: few of them may be classes, and whole ones that nearly all
// differ and count the rows are an identifier.
type labelValues struct {
	// seen are the distinct ones among the looked first. Beyond the window it grows as long as they are few; it is nil
	// once they are neither few nor nearly all different.
	seen   map[float64]struct{}
	looked int64
	// whole says that all were whole numbers, ascending that each was above the one before; last is that.
	whole, ascending bool
	n                int64
	last             float64
}

// valuesWindow is how many values of a part of a log are looked at.
const valuesWindow = 1 << 13

func newLabelValues() labelValues {
	return labelValues{seen: make(map[float64]struct{}), whole: true, ascending: true}
}

// add looks at a finite value.
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

// settle gives up where the values are neither few nor nearly all different.
func (l *labelValues) settle() {
	if len(l.seen) > classesAtMost && l.looked >= nearUniqueRows && !l.nearUnique() {
		l.seen = nil
	}
}

func (l *labelValues) nearUnique() bool { return int64(len(l.seen))*100 > nearUniquePercent*l.looked }

// merge adds what other, of another part of the log, saw.
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

// counts reports whether the values, of so many rows, look like row numbers: whole, nearly all different, hardly with gaps, and
// in the order of the rows unless all of them were seen.
func (l *labelValues) counts(rows int64, of moment) bool {
	return l.seen != nil && l.whole && l.looked >= nearUniqueRows && l.nearUnique() &&
		of.hi-of.lo < 2*float64(rows) && (l.ascending || l.looked == rows)
}

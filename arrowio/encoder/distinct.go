package encoder

import (
	"math/bits"
	"regexp"
)

// The rules for identifiers: columns whose values name rows, or customers and the like, rather than
// describe them.
const (
	// identifierRows is the minimum number of values to which the rules apply, repeatedRows where
	// values recur.
	identifierRows, repeatedRows = 100, 1000
	// nearUniquePercent is the share of distinct values above which a column is left out.
	nearUniquePercent = 95
	// A value of an identifier recurs at most so often, on average. So often, or in one of
	// evenShare rows, the commonest does.
	identifierRepeats, evenShare = 10, 100
	// If one of newShare later values is new, there is no end of them.
	newShare = 100
	// wholeBudget bounds the distinct numbers remembered over all columns, about 100 MB.
	wholeBudget = 4 << 20
	// The rules consider the first numbers of a column, as many as the budget allows within these
	// bounds.
	minWholeWindow = 1 << 10
	maxWholeWindow = 1 << 16
)

// wholeWindow returns how many values of each column of numbers the rules consider, given the
// number of such columns.
func wholeWindow(columns int) int {
	return min(max(wholeBudget/max(columns, 1), minWholeWindow), maxWholeWindow)
}

// distinct counts the distinct values of a column, and judges the first ones.
type distinct[T comparable] struct {
	window  int            // values that are judged, and distinct ones that are counted
	n       int64          // judged
	judged  int64          // distinct ones among them
	doubled [64]int64      // how many there were among the first 2^i
	seen    map[T]struct{} // at most window
}

func newDistinct[T comparable](window int) *distinct[T] {
	return &distinct[T]{window: window, seen: make(map[T]struct{})}
}

// done reports whether more values change nothing that is judged.
func (d *distinct[T]) done() bool { return d.n >= int64(d.window) }

// add counts a value.
func (d *distinct[T]) add(v T) {
	if len(d.seen) < d.window {
		d.seen[v] = struct{}{}
	}
	if d.done() {
		return
	}
	d.n++
	d.judged = int64(len(d.seen))
	if d.n&(d.n-1) == 0 {
		d.doubled[bits.Len64(uint64(d.n))-1] = d.judged
	}
}

// unique reports whether nearly all values differ.
func (d *distinct[T]) unique() bool {
	return d.n >= identifierRows && d.judged*100 > nearUniquePercent*d.n
}

// recurs reports whether values recur as rarely as those of an identifier may.
func (d *distinct[T]) recurs() bool {
	return d.n >= repeatedRows && d.n <= identifierRepeats*d.judged
}

// grows reports whether there were new values to the end: among the last ones by which their number
// doubled.
func (d *distinct[T]) grows() bool {
	last := bits.Len64(uint64(d.n)) - 1
	return last > 0 && newShare*(d.doubled[last]-d.doubled[last-1]) >= int64(1)<<(last-1)
}

// namesThings matches names that people give to identifiers. It is a hint: no column is left out
// for its name alone.
var namesThings = regexp.MustCompile(
	`(?i:(^|[^a-z])(id|ids|uuid|guid|key|hash|token|ssn|iban|email|phone|serial)$)|[a-z](ID|Id|UUID|Key)$`,
)

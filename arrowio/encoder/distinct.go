package encoder

import (
	"maps"
	"math"
	"regexp"
	"strconv"

	"github.com/eerf-stream/eerf/arrowio/rowid"
)

// The rules for identifiers: columns whose values name rows, or customers and the like, rather than
// describe them.
const (
	// identifierRows is the minimum number of values to which the rules apply, repeatedRows where
	// values recur.
	identifierRows, repeatedRows = 100, 1000
	// nearUniquePercent is the share of distinct values above which a column is left out.
	nearUniquePercent = 95
	// identifierRepeats is how often a value of an identifier recurs at most, on average. Its
	// commonest value occurs at most this often, or in one of evenShare rows.
	identifierRepeats, evenShare = 10, 100
	// If one of newShare later values is new, new ones keep coming.
	newShare = 100
	// doubt is how many standard errors an estimate must be beyond a limit to count as beyond it.
	doubt = 2
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

// distinct counts the distinct values of a column, and judges the first ones. They are a sample of
// the column.
type distinct[T comparable] struct {
	window int         // values that are judged, and distinct ones that are counted
	all, n int64       // values, and judged ones
	judged int64       // distinct ones among the judged
	seen   map[T]int32 // how often each occurs among the judged; at most window
}

func newDistinct[T comparable](window int) *distinct[T] {
	return &distinct[T]{window: window, seen: make(map[T]int32)}
}

// done reports whether no more values are judged.
func (d *distinct[T]) done() bool { return d.n >= int64(d.window) }

// add counts a value.
func (d *distinct[T]) add(v T) {
	d.all++
	if d.done() {
		if len(d.seen) < d.window {
			d.seen[v] = 0
		}
		return
	}
	d.n++
	d.seen[v]++
	d.judged = int64(len(d.seen))
}

// unique reports whether nearly all values of the column differ, given the share of its rows that
// were sampled. Of repeated values a sample holds only some: two rows with one value are both in it
// with the square of the share.
func (d *distinct[T]) unique(share float64) bool {
	if d.n < identifierRows {
		return false
	}
	share *= float64(d.n) / float64(d.all)
	repeated := float64(d.n - d.judged)
	repeated -= doubt * math.Sqrt(repeated*(1-share))
	return repeated*100 < (100-nearUniquePercent)*float64(d.n)*share
}

// identify reports whether whole numbers with these moments are an identifier: nearly all differ,
// and they count the rows, have too many or always as many digits for a measure, or the name says
// it; or they recur rarely, and the name says it. A measure such as an income is none, although
// nearly all of its values may differ.
func (d *distinct[T]) identify(name string, of *moment, step *steps, share float64) bool {
	named := namesThings.MatchString(name)
	if !d.unique(share) {
		return named && d.recurs()
	}
	counts := of.hi-of.lo < float64(max(1, step.common))*countsWithin*float64(d.all)/share
	return named || counts || of.hi > maxWhole || of.lo > 0 && fixedLength(of.lo, of.hi)
}

// steps finds the greatest step by which whole numbers may have been counted.
type steps struct {
	first, common int64
	any           bool
}

func (s *steps) add(v float64) {
	at := int64(v)
	if !s.any {
		s.first, s.any = at, true
		return
	}
	a, b := s.common, at-s.first
	for b != 0 {
		a, b = b, a%b
	}
	s.common = max(a, -a)
}

// countsWithin is how many numbers there are at most for each row between the least and the
// greatest of the numbers that count the rows, in steps.
const countsWithin = 4

// fixedLength reports whether numbers have the same number of digits, at least leastDigits.
func fixedLength(lo, hi float64) bool {
	const leastDigits = 8
	n := len(strconv.FormatFloat(lo, 'f', 0, 64))
	return n >= leastDigits && n == len(strconv.FormatFloat(hi, 'f', 0, 64))
}

// recurs reports whether values recur as rarely as the values of an identifier may.
func (d *distinct[T]) recurs() bool {
	return d.n >= repeatedRows && d.n <= identifierRepeats*d.judged
}

// minGroups is the number of values from which on rows may be grouped by a column.
const minGroups = 20

// repeats returns the share of values that equal an earlier one if the values may group rows, else
// 0.
func (d *distinct[T]) repeats(share float64) float64 {
	if d.n < identifierRows || d.judged < minGroups || d.unique(share) {
		return 0
	}
	return rowid.Repeats(maps.Values(d.seen), share*float64(d.n)/float64(d.all))
}

// grows reports whether new values keep coming: among the values by which their number doubled
// last, had they come in any order. A value that occurs m times is among them, and not before, with
// probability 2^-m.
func (d *distinct[T]) grows() bool {
	const most = 64
	var occur [most]int64 // number of values by how often they occur
	for _, m := range d.seen {
		occur[min(m, most-1)]++
	}
	growth, variance := 0.0, 0.0
	for m := 1; m < most; m++ {
		p := math.Ldexp(1, -m)
		growth += float64(occur[m]) * p
		variance += float64(occur[m]) * p * (1 - p)
	}
	return newShare*(growth-doubt*math.Sqrt(variance)) >= float64(d.n)/2
}

// namesThings matches names that people give to identifiers. It is a hint: no column is left out
// for its name alone.
var namesThings = regexp.MustCompile(
	`(?i:(^|[^a-z])(id|ids|uuid|guid|key|hash|token|ssn|iban|email|phone|serial)$)|[a-z](ID|Id|UUID|Key)$`,
)

// namesTimes matches names that people give to times.
var namesTimes = regexp.MustCompile(
	`(?i:(^|[^a-z])(time|timestamp|ts|date|datetime|epoch|unix|created|updated|modified|opened|closed|seen|when|at)($|[^a-z]))|` +
		`(?i:(time|date|timestamp)$)|[a-z](At|On|Ts|Time|Date)$`,
)

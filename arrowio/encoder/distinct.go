package encoder

import (
	"maps"
	"slices"
	"strings"
)

// distinctTexts counts how often each string occurs, as long as there are at most limit of them.
type distinctTexts struct {
	limit int
	// rows are counted through pointers: assigning to an existing string key would replace the copy by the given
	// string, a view of a message.
	rows map[string]*int64
	// beyond is set, and rows forgotten, at the first string past the limit; long is set at the
	// first one that is too long to be a category.
	beyond, long bool
	// unlearnable counts strings that are not valid UTF-8.
	unlearnable int64
}

// newDistinctTexts returns an empty count of at most limit strings.
func newDistinctTexts(limit int) *distinctTexts {
	return &distinctTexts{limit: limit, rows: make(map[string]*int64)}
}

// add counts a string, copying it if it is new: the given one may be a view of a message.
func (d *distinctTexts) add(v string) { d.addRows(v, 1) }

// addRows counts several rows with the same string.
func (d *distinctTexts) addRows(v string, rows int64) {
	if d.beyond || d.long {
		return
	}
	if n, seen := d.rows[v]; seen {
		*n += rows
		return
	}
	switch {
	case len(v) > MaxCategoryBytes:
		d.long, d.rows = true, nil
	case !learnable(v):
		d.unlearnable += rows
	case len(d.rows) >= d.limit:
		d.beyond, d.rows = true, nil
	default:
		n := rows
		d.rows[strings.Clone(v)] = &n
	}
}

// merge adds what other, of the same limit, counted.
func (d *distinctTexts) merge(other *distinctTexts) {
	for _, v := range other.values() {
		d.addRows(v, *other.rows[v])
	}
	d.unlearnable += other.unlearnable
	if other.beyond || other.long {
		d.beyond, d.long, d.rows = d.beyond || other.beyond, d.long || other.long, nil
	}
}

// count is how many rows have the string.
func (d *distinctTexts) count(v string) int64 {
	if n, seen := d.rows[v]; seen {
		return *n
	}
	return 0
}

// values returns the strings in ascending byte order.
func (d *distinctTexts) values() []string { return slices.Sorted(maps.Keys(d.rows)) }

// The near-unique rule: a whole-number column whose values are nearly all different identifies its
// rows rather than describes them.
const (
	// nearUniqueRows is the minimum number of values to which the rule applies.
	nearUniqueRows = 100
	// nearUniquePercent is the share of distinct values above which a column is left out.
	nearUniquePercent = 95
	// wholeBudget bounds the distinct numbers remembered over all columns, about 100 MB.
	wholeBudget = 4 << 20
	// The rule considers the first values of a column, as many as the budget allows within these
	// bounds.
	minWholeWindow = 1 << 10
	maxWholeWindow = 1 << 16
)

// wholeWindow returns how many values of each whole-number column the rule considers, given the number of such
// columns.
func wholeWindow(columns int) int64 {
	return int64(min(max(wholeBudget/max(columns, 1), minWholeWindow), maxWholeWindow))
}

// distinctWhole counts the distinct numbers among the first values of a whole-number column.
type distinctWhole struct {
	window, n int64
	seen      map[int64]struct{}
	// mixed is set once a record has the column with a floating-point type: then the rule does not
	// apply.
	mixed bool
}

// newDistinctWhole returns an empty count over the first window values.
func newDistinctWhole(window int64) *distinctWhole {
	return &distinctWhole{window: window, seen: make(map[int64]struct{})}
}

// done reports whether more values would change nothing.
func (d *distinctWhole) done() bool { return d.mixed || d.n >= d.window }

// add counts a value.
func (d *distinctWhole) add(v int64) {
	if !d.done() {
		d.n++
		d.seen[v] = struct{}{}
	}
}

// leave stops counting because the column is not of whole numbers after all.
func (d *distinctWhole) leave() { d.mixed, d.seen = true, nil }

// nearUnique applies the rule.
func (d *distinctWhole) nearUnique() bool {
	return !d.mixed && d.n >= nearUniqueRows && int64(len(d.seen))*100 > nearUniquePercent*d.n
}

package encoder

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

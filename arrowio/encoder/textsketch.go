package encoder

import (
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Counting strings takes memory for a number of them, which is bounded for each string column and
// for all together.
const (
	textBudget     = 1 << 18
	maxSketchTexts = 1 << 13
	// A sketch has room for this many times the categories that are kept.
	sketchRoom = 4
)

// sketchTexts returns how many strings are counted per column, given the number of columns.
func sketchTexts(columns, maxCategories int) int {
	return max(min(textBudget/max(columns, 1), maxSketchTexts), sketchRoom*maxCategories)
}

// textSketch is what calibration knows about the strings of a column: how often each occurs, and
// how they differ.
type textSketch struct {
	textCounts
	// n is the number of values, bytes their length; outside counts those that cannot be
	// categories: too long, or not valid UTF-8.
	n, bytes, outside, long int64
	hashes                  *distinct[uint64]
}

// newTextSketch returns an empty sketch for limit strings.
func newTextSketch(limit int) *textSketch {
	return &textSketch{textCounts: newTextCounts(limit), hashes: newDistinct[uint64](limit)}
}

// see counts a string.
func (s *textSketch) see(v string) {
	s.n++
	s.bytes += int64(len(v))
	s.hashes.add(xxhash.Sum64String(v))
	if !learnable(v) {
		s.outside++
		s.long += count(len(v) > MaxCategoryBytes)
		return
	}
	s.add(v, 1)
}

// distinct returns how many different values there were, at most the limit.
func (s *textSketch) distinct() int64 { return int64(len(s.hashes.seen)) }

// approximate reports whether there were too many different values to count them exactly.
func (s *textSketch) approximate() bool { return s.lost > 0 }

// identifies reports whether the strings of a column with this name are identifiers: nearly all
// differ, or they recur rarely, none of them often, and the name suggests it or too few recur for
// [Effects], which represent any number of categories. share is the sampled share of the rows.
func (s *textSketch) identifies(name string, share float64) bool {
	d := s.hashes
	if d.unique(share) {
		return true
	}
	rare := d.grows() && d.n < effectRows*d.judged
	return d.recurs() && s.most() <= max(identifierRepeats, s.n/evenShare) && (rare || namesThings.MatchString(name))
}

// most is how often the commonest string occurs.
func (s *textSketch) most() (most int64) {
	for _, n := range s.rows {
		most = max(most, *n)
	}
	return most
}

// commonest returns the most frequent strings (of equally frequent ones the first in byte order) in
// ascending byte order.
func (s *textSketch) commonest(most int) []string {
	values := s.byRows()
	values = values[:min(most, len(values))]
	slices.Sort(values)
	return values
}

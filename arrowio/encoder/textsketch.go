package encoder

import (
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Counting strings takes memory for a number of them, which is bounded for each string column and for all
// together.
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

// textSketch is what calibration knows about the strings of a column: how often each occurs, and how they differ.
type textSketch struct {
	textCounts
	// n is the number of values, bytes their length; outside counts those that cannot be categories: too long, or not
	// valid UTF-8.
	n, bytes, outside, long int64
	// seen holds the hashes of the distinct values, at most limit; uniqueAt is how many there were after the first
	// limit values.
	seen     map[uint64]struct{}
	uniqueAt int
}

// newTextSketch returns an empty sketch for limit strings.
func newTextSketch(limit int) *textSketch {
	return &textSketch{textCounts: newTextCounts(limit), seen: make(map[uint64]struct{})}
}

// see counts a string.
func (s *textSketch) see(v string) {
	s.n++
	s.bytes += int64(len(v))
	if len(s.seen) < s.limit {
		s.seen[xxhash.Sum64String(v)] = struct{}{}
	}
	if s.n == int64(s.limit) {
		s.uniqueAt = len(s.seen)
	}
	if !learnable(v) {
		s.outside++
		s.long += count(len(v) > MaxCategoryBytes)
		return
	}
	s.add(v, 1)
}

// distinct returns how many different values there were, at most the limit.
func (s *textSketch) distinct() int64 { return int64(len(s.seen)) }

// approximate reports whether there were too many different values to count them exactly.
func (s *textSketch) approximate() bool { return s.lost > 0 }

// nearUnique applies the rule for identifiers to the first values, as many as the limit.
func (s *textSketch) nearUnique() bool {
	distinct, n := s.judged()
	return n >= nearUniqueRows && distinct*100 > nearUniquePercent*n
}

// judged returns how many values the rule for identifiers considers, and how many of them are
// different.
func (s *textSketch) judged() (distinct, n int64) {
	if s.n >= int64(s.limit) {
		return int64(s.uniqueAt), int64(s.limit)
	}
	return s.distinct(), s.n
}

// commonest returns the most frequent strings (of equally frequent ones the first in byte order) in ascending byte
// order.
func (s *textSketch) commonest(most int) []string {
	values := s.byRows()
	values = values[:min(most, len(values))]
	slices.Sort(values)
	return values
}

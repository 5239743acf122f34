package encoder

import (
	"cmp"
	"slices"
	"strings"

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

// textSketch counts how often strings occur. With at most limit different ones the counts are exact. Beyond that they
// are those of Misra and Gries (Science of Computer Programming 2, 1982): a string that finds no room takes one from
// each string that has some, so every count is too small by at most lost, itself at most the number of values divided
// by limit + 1. The state depends only on the values and their order.
type textSketch struct {
	limit int
	// counts are pointers: assigning to an existing string key would replace the copy by the given string, a view of a
	// message.
	counts map[string]*int64
	// n is the number of values, bytes their length; outside counts those that cannot be categories: too long, or not
	// valid UTF-8.
	n, bytes, outside, long int64
	lost                    int64
	// seen holds the hashes of the distinct values, at most limit; uniqueAt is how many there were after the first
	// limit values.
	seen     map[uint64]struct{}
	uniqueAt int
}

// newTextSketch returns an empty sketch for limit strings.
func newTextSketch(limit int) *textSketch {
	return &textSketch{limit: limit, counts: make(map[string]*int64), seen: make(map[uint64]struct{})}
}

// add counts a string, copying it if it is new: the given one may be a view of a message.
func (s *textSketch) add(v string) {
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
	if n, there := s.counts[v]; there {
		*n++
		return
	}
	if len(s.counts) < s.limit {
		n := int64(1)
		s.counts[strings.Clone(v)] = &n
		return
	}
	s.lost++
	for text, n := range s.counts {
		if *n--; *n == 0 {
			delete(s.counts, text)
		}
	}
}

// count returns how many rows have the string, as far as they were counted.
func (s *textSketch) count(v string) int64 {
	if n, there := s.counts[v]; there {
		return *n
	}
	return 0
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
	values := make([]string, 0, len(s.counts))
	for v := range s.counts {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int {
		return cmp.Or(cmp.Compare(*s.counts[b], *s.counts[a]), strings.Compare(a, b))
	})
	values = values[:min(most, len(values))]
	slices.Sort(values)
	return values
}

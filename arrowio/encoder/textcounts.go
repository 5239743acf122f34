package encoder

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// textCounts counts how often strings occur. With at most limit different ones the counts are
// exact. Beyond that they follow Misra and Gries (Science of Computer Programming 2, 1982): a
// string that finds no room takes one from each string that has some, so every count is too small
// by at most lost, itself at most the number of values divided by limit + 1. The state depends only
// on the values and their order.
type textCounts struct {
	limit int
	// rows are pointers: assigning to an existing string key would replace the copy by the given
	// string, a view of a message.
	rows map[string]*int64
	lost int64
}

func newTextCounts(limit int) textCounts {
	return textCounts{limit: limit, rows: make(map[string]*int64)}
}

// add counts rows with a string, copying it if it is new: the given one may be a view of a message.
func (c *textCounts) add(v string, rows int64) {
	if n, seen := c.rows[v]; seen {
		*n += rows
		return
	}
	if len(c.rows) >= c.limit {
		rows -= c.take(rows)
	}
	if rows > 0 {
		n := rows
		c.rows[strings.Clone(v)] = &n
	}
}

// take takes as much from every string as each has, at most this many, and returns how much. If it
// is less, there is room for another string.
func (c *textCounts) take(most int64) int64 {
	for _, n := range c.rows {
		most = min(most, *n)
	}
	for v, n := range c.rows {
		if *n -= most; *n == 0 {
			delete(c.rows, v)
		}
	}
	c.lost += most
	return most
}

// merge adds the counts of other.
func (c *textCounts) merge(other *textCounts) {
	for _, v := range other.values() {
		c.add(v, *other.rows[v])
	}
	c.lost += other.lost
}

// count returns the number of counted rows that have the string.
func (c *textCounts) count(v string) int64 {
	if n, seen := c.rows[v]; seen {
		return *n
	}
	return 0
}

// values returns the strings in ascending byte order.
func (c *textCounts) values() []string { return slices.Sorted(maps.Keys(c.rows)) }

// byRows returns the strings, the most frequent ones first, of equally frequent ones the first in
// byte order.
func (c *textCounts) byRows() []string {
	values := slices.Collect(maps.Keys(c.rows))
	slices.SortFunc(values, func(a, b string) int {
		return cmp.Or(cmp.Compare(*c.rows[b], *c.rows[a]), strings.Compare(a, b))
	})
	return values
}

package rowid

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cespare/xxhash/v2"
)

// Hasher computes the identities of rows by a rule. It keeps its memory between calls and belongs
// to one goroutine.
type Hasher struct {
	rule    Rule
	schema  *arrow.Schema // of the last record
	columns []column      // in schema
	sums    []uint64
	present []bool // whether a row has a value in one of the columns
	words   []uint64
}

// column is a column of the content with its constants.
type column struct {
	at   int
	a, b uint64
}

// NewHasher returns a hasher for a rule.
func NewHasher(r Rule) *Hasher { return &Hasher{rule: r} }

// Rule returns the rule.
func (h *Hasher) Rule() Rule { return h.rule }

// Identities returns the identities of rows of a record, nil meaning all rows, in their order.
// place returns the identity of the place of a row, by its number in the record. The result is
// valid until the next call.
func (h *Hasher) Identities(rec arrow.Record, rows []int32, place func(row int32) uint64) []uint64 {
	n := len(rows)
	if rows == nil {
		n = int(rec.NumRows())
	}
	h.sums = resize(h.sums, n)
	if h.rule.ByPlace() {
		for i := range h.sums {
			h.sums[i] = place(rowOf(rows, i))
		}
		return h.sums
	}
	h.bind(rec.Schema())
	h.present = resize(h.present, n)
	clear(h.sums)
	clear(h.present)
	for _, c := range h.columns {
		h.add(rec.Column(c.at), rows, c)
	}
	var b [8]byte
	for i, sum := range h.sums {
		if h.rule.By == Group && !h.present[i] {
			h.sums[i] = place(rowOf(rows, i))
			continue
		}
		binary.LittleEndian.PutUint64(b[:], sum)
		h.sums[i] = xxhash.Sum64(b[:])
	}
	return h.sums
}

// bind looks up the columns of a schema, unless it is the last one.
func (h *Hasher) bind(schema *arrow.Schema) {
	if h.schema == schema {
		return
	}
	h.columns = h.columns[:0]
	for i, f := range schema.Fields() {
		if h.counts(f.Name) {
			a, b := constants(f.Name)
			h.columns = append(h.columns, column{at: i, a: a, b: b})
		}
	}
	h.schema = schema
}

// counts reports whether a column is part of the identity.
func (h *Hasher) counts(name string) bool {
	if h.rule.By == Group {
		return name == h.rule.Group
	}
	if len(h.rule.Columns) > 0 {
		_, found := slices.BinarySearch(h.rule.Columns, name)
		return found
	}
	_, without := slices.BinarySearch(h.rule.Without, name)
	return !without
}

// constants returns the constants of a column.
func constants(name string) (a, b uint64) {
	return xxhash.Sum64String(name), xxhash.Sum64String(name+"\x00") | 1
}

// rowOf returns the number of row i of a selection.
func rowOf(rows []int32, i int) int32 {
	if rows == nil {
		return int32(i)
	}
	return rows[i]
}

// resize returns s with length n and arbitrary contents, reusing its memory if it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Trim releases the memory of large records.
func (h *Hasher) Trim() {
	const kept = 1 << 13
	if cap(h.sums) > kept {
		h.sums, h.present = nil, nil
	}
	if cap(h.words) > kept {
		h.words = nil
	}
	h.schema = nil
}

// Counter counts rows and their distinct contents.
type Counter struct {
	hasher *Hasher
	seen   map[uint64]int64 // rows by content
	rows   int64
}

// NewCounter returns a counter of contents by the rule, which must be by content.
func NewCounter(r Rule) *Counter {
	return &Counter{hasher: NewHasher(r), seen: map[uint64]int64{}}
}

// Add counts the rows of a record.
func (c *Counter) Add(rec arrow.Record) {
	for _, id := range c.hasher.Identities(rec, nil, nil) {
		c.AddIdentity(id)
	}
}

// AddIdentity counts a row by its content.
func (c *Counter) AddIdentity(id uint64) {
	c.seen[id]++
	c.rows++
}

// Copies returns the share of rows whose content an earlier row has. The counted rows are drawn at
// random from all rows, which they are the given share of; of a sample the result is an estimate,
// see [Repeats].
func (c *Counter) Copies(sampled float64) float64 { return Repeats(maps.Values(c.seen), sampled) }

// Repeats returns the share of values that equal an earlier value, of values of which some were
// drawn at random: sampled is their share, and counts are how often each value occurs among them.
// Of a sample the result is an estimate, exact but for chance where values occur once or twice, or
// all equally often.
//
// A value has on average k = Σ m(m-1)/n equals, for values that occur m times, and a sample of
// share p has p·k of them. If no value occurs more than twice, k/2 equal an earlier one; if each
// occurs m times, k = m-1, and k/(1+k) do.
func Repeats[T int32 | int64](counts iter.Seq[T], sampled float64) float64 {
	var n, distinct, pairs float64
	for m := range counts {
		if m == 0 {
			continue
		}
		n += float64(m)
		distinct++
		pairs += float64(m) * float64(m-1)
	}
	switch {
	case n == 0:
		return 0
	case sampled >= 1:
		return (n - distinct) / n
	}
	k := pairs / n / sampled
	return min(k/2, k/(1+k))
}

// shownShare is the least share of copies that a note mentions.
const shownShare = 0.01

// CopiesNote is a sentence about a share of copies that matters, or "".
func CopiesNote(share float64, r Rule) string {
	if share < shownShare || r.By != Content {
		return ""
	}
	return fmt.Sprintf("%.3g %% of the rows equal an earlier row; no copy of a held-out row is trained on", 100*share)
}

// TaughtNote is a sentence about the share of test rows that do not judge fairly because training
// rows have their identity, or "".
func TaughtNote(share float64, r Rule) string {
	if share < shownShare || r.ByPlace() {
		return ""
	}
	what := "equal a training row"
	if r.By == Group {
		what = fmt.Sprintf("have the %q of a training row", r.Group)
	}
	return fmt.Sprintf("%.3g %% of the test rows %s; the errors may be too low", 100*share, what)
}

// Decide returns the rule for the counted rows, see [Rule.Decide].
func (c *Counter) Decide(group string) Rule {
	return c.hasher.rule.Decide(c.rows, int64(len(c.seen)), group)
}

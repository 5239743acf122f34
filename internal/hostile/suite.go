package hostile

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Suite is a decoder under attack.
type Suite struct {
	// Make returns a mutant determined by r alone; it may use the memory of into, a former mutant.
	Make func(r *rand.Rand, into []byte) []byte
	// Try gives the mutant to the decoder and uses all that comes of it. reason is the stable word
	// that it was refused with, [Accepted] if it was not. An error is a fault of the decoder. Work
	// with a budget runs in [Meter.Within].
	Try func(m *Meter, mutant []byte) (reason string, err error)
	// Deadline is the processor time that one mutant may take; 0 means [DefaultDeadline].
	Deadline time.Duration
	// MemoryBytes is the memory that the process may map beyond its mappings before the first
	// mutant; 0 means [DefaultMemoryBytes].
	MemoryBytes int64
}

// Accepted is the word for a mutant that was not refused.
const Accepted = "accepted"

// Defaults of a [Suite]. The deadline is far beyond the milliseconds that the largest mutants take:
// it tells a hang from a slow machine. The memory includes mappings that Go's runtime makes ahead
// of their use.
const (
	DefaultDeadline    = 10 * time.Second
	DefaultMemoryBytes = 512 << 20
)

func (s Suite) withDefaults() Suite {
	s.Deadline = cmp.Or(s.Deadline, DefaultDeadline)
	s.MemoryBytes = cmp.Or(s.MemoryBytes, DefaultMemoryBytes)
	return s
}

// Range is the mutants First up to, not including, First+Count of a seed.
type Range struct {
	Seed         uint64
	First, Count int
}

// Report is the outcome of the mutants of a range.
type Report struct {
	Range
	// Reasons counts the mutants by the word of [Suite.Try].
	Reasons map[string]int
	// LargestBytes is the most that [Meter.Within] saw allocated, for the mutant LargestAt.
	LargestBytes int64
	LargestAt    int
	// Longest is the greatest processor time of one mutant, number LongestAt, with everything done
	// with it.
	Longest   time.Duration
	LongestAt int
}

// String is the report in a few lines.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"seed %d, mutants %d to %d; most allocated by decoding one: %.2f MiB (mutant %d); longest: %d ms (mutant %d)\n",
		r.Seed,
		r.First,
		r.First+r.Count-1,
		float64(r.LargestBytes)/(1<<20),
		r.LargestAt,
		r.Longest.Milliseconds(),
		r.LongestAt,
	)
	byCount := func(a, c string) int { return cmp.Or(r.Reasons[c]-r.Reasons[a], strings.Compare(a, c)) }
	for _, word := range slices.SortedFunc(maps.Keys(r.Reasons), byCount) {
		fmt.Fprintf(&b, "%10d %s\n", r.Reasons[word], word)
	}
	return b.String()
}

// random is the source of mutant n of a seed.
func random(seed uint64, n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }

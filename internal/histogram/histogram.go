// Package histogram counts values in fixed buckets. Packages observe times with it, so that they do not depend on what
// displays them.
package histogram

import (
	"math"
	"slices"
	"sync/atomic"
)

// Histogram counts values by bucket. It is safe for concurrent use, and observing takes no lock.
type Histogram struct {
	bounds []float64
	counts []atomic.Uint64 // one more than bounds: the last is for values above all of them
	sum    atomic.Uint64   // bits of a float64
}

// New returns an empty histogram with the given ascending upper bounds; a value equal to a bound is in the bucket below
// it.
func New(bounds []float64) *Histogram {
	if !slices.IsSorted(bounds) || len(slices.Compact(slices.Clone(bounds))) != len(bounds) {
		panic("histogram: bounds do not ascend")
	}
	return &Histogram{bounds: slices.Clone(bounds), counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Seconds are bounds for times between 100 µs and 100 s, three per decade: for handling a message, asking a broker, and
// the delay of a result.
func Seconds() []float64 {
	var bounds []float64
	for _, decade := range []float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10} {
		bounds = append(bounds, decade, 2.5*decade, 5*decade)
	}
	return append(bounds, 100)
}

// Observe counts a value. NaN is not counted.
func (h *Histogram) Observe(value float64) {
	if math.IsNaN(value) {
		return
	}
	bucket, _ := slices.BinarySearch(h.bounds, value)
	h.counts[bucket].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+value)) {
			return
		}
	}
}

// Snapshot is what a histogram held at one moment.
type Snapshot struct {
	Bounds []float64
	// Below has, for each bound, how many values did not exceed it.
	Below []uint64
	Count uint64
	Sum   float64
}

// Snapshot returns what was observed so far. Concurrent observations may be in the sum but not in the counts, or the
// other way round.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{Bounds: h.bounds, Below: make([]uint64, len(h.bounds)), Sum: math.Float64frombits(h.sum.Load())}
	for i := range h.counts {
		s.Count += h.counts[i].Load()
		if i < len(s.Below) {
			s.Below[i] = s.Count
		}
	}
	return s
}

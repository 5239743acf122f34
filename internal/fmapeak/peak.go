package fmapeak

import (
	"runtime"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/internal/simd"
)

const (
	sums        = 12   // independent sums of a loop, see the generator
	loopRounds  = 8192 // rounds of one call: about 20 µs, since assembly cannot be preempted
	scalarWidth = 1    // of the loop in plain Go
	takes       = 15   // measurements, of which the median counts
	takeTime    = 2 * time.Millisecond
)

// Float32 returns the floating-point operations a second, two for each multiply-add, that one core does on float32
// with the instructions of that level and without any memory. It is the median of 15 measurements of 2 ms, so that a
// call takes about 30 ms. The level must be one that the process may use (at most simd.Best).
func Float32(level simd.Level) float64 {
	_, peak := measure(level, nil)
	return peak
}

// Compare runs call, which does the given number of operations, and the loop of Float32 in 15 turns of 2 ms or more
// each. It returns the operations per second of call and of the loop, both medians. Clocks rise after a rest and fall
// under load, so a peak measured separately belongs to another clock.
func Compare(level simd.Level, operations float64, call func()) (rate, peak float64) {
	calls, peak := measure(level, call)
	return operations * calls, peak
}

// measure returns how often a second call runs, unless it is nil, and the operations a second of the loop.
func measure(level simd.Level, call func()) (calls, peak float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	loop, width := choose(level)
	var rates, peaks []float64
	for range takes {
		peaks = append(peaks, loopRounds*sums*float64(width)*2*perSecond(func() { loop(loopRounds) }))
		if call != nil {
			rates = append(rates, perSecond(call))
		}
	}
	if call != nil {
		calls = median(rates)
	}
	return calls, median(peaks)
}

// perSecond calls f for about takeTime, at least once, and returns how often a second it returned.
func perSecond(f func()) float64 {
	calls := 0
	begin := time.Now()
	for calls == 0 || time.Since(begin) < takeTime {
		f()
		calls++
	}
	return float64(calls) / time.Since(begin).Seconds()
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

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
	scalarWidth = 1    // width of the loop in plain Go
	takes       = 15   // number of measurements, of which the median counts
	takeTime    = 2 * time.Millisecond
)

// Float32 returns the floating-point operations per second, two for each multiply-add, of one core
// on float32 numbers in registers, with the instructions of that level. It is the median of 15
// measurements of 2 ms. The level must be at most simd.Best.
func Float32(level simd.Level) float64 {
	_, peak := measure(level, nil)
	return peak
}

// Compare runs call, which does the given number of operations, and the loop of Float32 in 15 turns
// of 2 ms or more each. It returns the operations per second of call and of the loop, both medians.
// Clock rates rise after a rest and fall under load, so a peak that is measured separately is not
// comparable.
func Compare(level simd.Level, operations float64, call func()) (rate, peak float64) {
	calls, peak := measure(level, call)
	return operations * calls, peak
}

// measure returns the calls per second of call, unless it is nil, and the operations per second of
// the loop.
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

// perSecond calls f for about takeTime, at least once, and returns the calls per second.
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

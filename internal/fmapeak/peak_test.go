package fmapeak

import (
	"math"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
)

func TestEveryLevelIsMeasured(t *testing.T) {
	for level := simd.None; level <= simd.Best(); level++ {
		peak := Float32(level)
		if !(peak > 1e6) {
			t.Errorf("%v: %g operations a second", level, peak)
		}
		t.Logf("%v: %.4g GF/s", level, peak/1e9)
	}
}

func TestCompareCountsTheCallsOfOneRun(t *testing.T) {
	loop, width := choose(simd.Best())
	calls := 0
	rate, peak := Compare(simd.Best(), loopRounds*sums*float64(width)*2, func() { loop(loopRounds); calls++ })
	if calls < takes {
		t.Errorf("%d calls, want one in each of %d turns at least", calls, takes)
	}
	if share := rate / peak; !(share > 0) || math.IsInf(share, 1) { // of the same loop; how much depends on what else the machine does
		t.Errorf("the loop runs at %.3g of itself", share)
	}
}

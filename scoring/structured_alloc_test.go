//go:build !race

package scoring

import (
	"runtime"
	"slices"
	"testing"
)

// The race detector lets pools forget.
func TestFastTransformOfARowAllocatesNothing(t *testing.T) {
	fs := structuredSet(MapCosine, 784, 1024, someOf(1024, 1))
	tr := byTransform(t, fs, nil)
	dst, x := make([]float32, tr.Len()), normalRows(4, 1, 784)
	if n := testing.AllocsPerRun(100, func() { tr.Transform(dst, x, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStructuredBankOfRawRowsDrawsIntoLittleMemory: shifts of raw rows depend on ω, of which one is drawn at a time.
func TestStructuredBankOfRawRowsDrawsIntoLittleMemory(t *testing.T) {
	const dim, count = 1024, 4096
	in := &Affine{Shift: make([]float64, dim), Scale: slices.Repeat([]float64{2}, dim)}
	c := structuredCandidates(MapCosine, dim, count)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	NewBank(c, BankOptions{Affine: in})
	runtime.ReadMemStats(&after)
	if got, all := after.TotalAlloc-before.TotalAlloc, uint64(4*dim*count); got > all/4 {
		t.Errorf("%d bytes allocated where all candidates have %d", got, all)
	}
}

//go:build !race

package scoring

import "testing"

// The race detector lets pools forget.
func TestFastTransformOfARowAllocatesNothing(t *testing.T) {
	fs := structuredSet(MapCosine, 784, 1024, someOf(1024, 1))
	tr := byTransform(t, fs, nil)
	dst, x := make([]float32, tr.Len()), normalRows(4, 1, 784)
	if n := testing.AllocsPerRun(100, func() { tr.Transform(dst, x, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

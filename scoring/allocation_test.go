package scoring

import (
	"testing"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

func TestOneRowIsTransformedWithoutAllocation(t *testing.T) {
	for _, dim := range []int{1, 77, 784} {
		sets := map[string]*Features{"mixed": mixedFeatures(dim, 100)}
		for _, m := range allMaps {
			sets[m.String()] = drawFeatures(m, dim, 450)
		}
		for name, f := range sets {
			tr := NewTransformer(plainSet(f))
			x, dst := normalRows(1, 1, dim), make([]float32, tr.Len())
			if n := testing.AllocsPerRun(20, func() { tr.Transform(dst, x, 1) }); n != 0 {
				t.Errorf("%s of %d numbers: %v allocations", name, dim, n)
			}
		}
	}
}

// Small messages cost no allocation, neither while their rows wait nor when these are scored
// (except for the sums of a partly filled panel).
func TestSmallMessagesAreScoredWithoutAllocation(t *testing.T) {
	for _, m := range allMaps {
		c := candidatesOf(m, 2*kernel.Width, 2*kernel.Width)
		for _, targets := range []Targets{{Outputs: 1, Values: normalRows(1, 50, 1)}, classTargets(50, 3)} {
			a := NewAccumulator(NewBank(c), NewSums(c.Count, targets.Outputs))
			x := normalRows(1, 50, c.Dim)
			a.Add(x, 50, targets) // makes the buffer
			n := testing.AllocsPerRun(20, func() {
				a.Add(x, 50, targets)
				a.Sums()
			})
			if n > 0 {
				t.Errorf("%v with %d outputs: %v allocations", m, targets.Outputs, n)
			}
		}
	}
}

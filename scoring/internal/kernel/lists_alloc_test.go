//go:build !race

package kernel

import (
	"math/rand/v2"
	"testing"
)

// The race detector makes pools drop items.
func TestListsOfRowsDoNotAllocate(t *testing.T) {
	for _, level := range levels() {
		p := newProblem(level, Cosine, 300, 3*Width, 70)
		x := p.sparseRows(rand.New(rand.NewPCG(7, 1)))
		if !p.panels.lists(10, 9) {
			t.Fatalf("%v: rows are not listed", level)
		}
		dst, factor := make([]float32, p.count*p.rows), make([]float32, p.count)
		sums, targets := zeroSums(p.count, 1), Targets{Outputs: 1, Values: x[:p.rows]}
		if n := testing.AllocsPerRun(10, func() {
			Featurize(dst, p.panels, x, factor)
			Featurize(dst, p.panels, x[:p.dim], factor)
			Score(sums, p.panels, 0, p.panels.Count(), x, targets)
		}); n != 0 {
			t.Errorf("%v: %v allocations", level, n)
		}
	}
}

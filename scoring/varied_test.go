package scoring

import (
	"math"
	"testing"
)

// Varied candidates have each number of coordinates at each scale equally often; a sparse number is
// a standard normal one over √q times the scale, a dense one over σ times the scale.
func TestVariedCandidatesComeInEqualParts(t *testing.T) {
	c := Candidates{Varied: true, Sigma: 7, Seed: 3, Dim: 30, Count: 16 * 500}
	f := c.DrawAll()
	squares, numbers := map[[2]float64]float64{}, map[[2]float64]float64{}
	for i := range c.Count {
		order, scale := c.varied(int32(i))
		width, count := c.Sigma*scale, 0
		if order > 0 {
			width = math.Sqrt(float64(order)) * scale
		}
		kind := [2]float64{float64(order), scale}
		for _, v := range f.Omega[i*c.Dim : (i+1)*c.Dim] {
			if v != 0 {
				count++
				squares[kind] += float64(v) * float64(v) * width * width
			}
		}
		if want := order; count != want && (want > 0 || count != c.Dim) {
			t.Fatalf("candidate %d has %d numbers, want %d", i, count, want)
		}
		numbers[kind] += float64(count)
	}
	if len(squares) != orders*len(scales) {
		t.Fatalf("%d kinds", len(squares))
	}
	for kind, sum := range squares {
		n := numbers[kind]
		if n < 500 {
			t.Errorf("%v numbers of %v", n, kind)
		}
		near(t, "variance", sum/n, 1, 6*math.Sqrt(2/n))
	}
	c.Dim, c.Count = 2, 16
	if order, _ := c.varied(3); order != 2 || c.DrawAll().Validate() != nil {
		t.Errorf("%d numbers of rows of two", order)
	}
}

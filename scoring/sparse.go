package scoring

import (
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// maxOrders bounds the orders that candidates take in turn.
const maxOrders = 64

// OrderOf returns how many numbers of candidate i are drawn, the others being zero; 0 for a dense one. A row of fewer numbers
// than the order has all of them drawn.
func (c Candidates) OrderOf(i int32) int {
	if len(c.Orders) == 0 {
		return 0
	}
	return min(c.Orders[int(i)%len(c.Orders)], c.Dim)
}

// scaleOf returns the scale of the mix that candidate i has.
func (c Candidates) scaleOf(i int32) float64 {
	c.Sigma = 1
	return c.SigmaOf(i)
}

// drawSparse fills omega with a candidate of q numbers at coordinates that are drawn without repeats, each a standard normal
// number over √q times the scale of the candidate; σ has no part in it, since columns are standardized. For each number, the
// words of the stream give the coordinate first.
func (c Candidates) drawSparse(omega []float32, index int32, q int, s stream) {
	clear(omega)
	taken := make([]int, 0, q)
	width := math.Sqrt(float64(q)) * c.scaleOf(index)
	for range q {
		j := int(s.below(uint64(c.Dim - len(taken))))
		for _, earlier := range taken { // ascending: j counts the coordinates that are not taken
			if j >= earlier {
				j++
			}
		}
		taken = append(taken, j)
		slices.Sort(taken)
		omega[j] = portable.Narrow(s.normal() / width)
	}
}

// checkOrders reports orders that cannot be drawn.
func (c Candidates) checkOrders() error {
	switch {
	case len(c.Orders) == 0:
		return nil
	case c.Map != MapCosine || c.Distribution != Gaussian || c.Sampler != IID:
		return fmt.Errorf("sparse candidates are drawn for the cosine map, independently and from the gaussian distribution, not for map %v by sampler %v from %v",
			c.Map, c.Sampler, c.Distribution)
	case len(c.Orders) > maxOrders:
		return fmt.Errorf("sparse_orders has %d orders, want at most %d", len(c.Orders), maxOrders)
	}
	if slices.ContainsFunc(c.Orders, func(q int) bool { return q < 0 }) {
		return fmt.Errorf("sparse_orders is %v, want numbers of coordinates, 0 for all", c.Orders)
	}
	return nil
}

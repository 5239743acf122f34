package scoring

import (
	"errors"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// scales are the bandwidths of varied candidates, as multiples of Sigma.
var scales = [...]float64{0.5, 1, 2, 4}

// Scales returns the scales of the bandwidth that varied candidates have, in equal parts.
func Scales() []float64 { return slices.Clone(scales[:]) }

// orders is how many kinds of varied candidates there are: dense ones, and those with 1, 2 and 3 numbers.
const orders = 4

// varied returns of candidate i how many numbers are drawn, the others being zero, and its scale; 0 stands for all. A row of
// fewer numbers than that has all of them drawn.
func (c Candidates) varied(i int32) (order int, scale float64) {
	if !c.Varied {
		return 0, 1
	}
	return min(int(i)%orders, c.Dim), scales[int(i)/orders%len(scales)]
}

// drawSparse fills omega with a candidate of q numbers at coordinates that are drawn without repeats, each a standard normal
// number over √q times the scale; σ has no part in it, since columns are standardized. For each number, the words of the
// stream give the coordinate first.
func (c Candidates) drawSparse(omega []float32, q int, scale float64, s stream) {
	clear(omega)
	taken := make([]int, 0, q)
	width := math.Sqrt(float64(q)) * scale
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

// checkVaried reports varied candidates that cannot be drawn.
func (c Candidates) checkVaried() error {
	if c.Varied && (c.Map != MapCosine || c.Distribution != Gaussian) {
		return errors.New("varied candidates are drawn for the cosine map from the gaussian distribution")
	}
	return nil
}

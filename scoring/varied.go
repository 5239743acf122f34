package scoring

import (
	"errors"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// scales are the bandwidths of varied candidates, as multiples of Sigma.
var scales = [...]float64{0.5, 1, 2, 4}

// Scales returns the multiples of the bandwidth at which varied candidates are drawn, in equal
// parts.
func Scales() []float64 { return slices.Clone(scales[:]) }

// orders is the number of kinds of varied candidates: dense, and with 1, 2 or 3 numbers.
const orders = 4

// varied returns the scale of candidate i and its order, the number of coordinates that are drawn,
// capped at Dim; the others are zero. Order 0 stands for all.
func (c Candidates) varied(i int32) (order int, scale float64) {
	if !c.Varied {
		return 0, 1
	}
	return min(int(i)%orders, c.Dim), scales[int(i)/orders%len(scales)]
}

// drawSparse fills omega with q standard normal numbers divided by √q·scale, at coordinates drawn
// without repeats. It does not use σ, since columns are standardized. For each number, the
// coordinate takes the first words of the stream.
func (c Candidates) drawSparse(omega []float32, q int, scale float64, s stream) {
	clear(omega)
	taken := make([]int, 0, q)
	width := math.Sqrt(float64(q)) * scale
	for range q {
		j := int(s.below(uint64(c.Dim - len(taken))))
		for _, earlier := range taken { // ascending; j counts the coordinates that are not taken
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
		return errors.New("varied candidates need the cosine map and the gaussian distribution")
	}
	return nil
}

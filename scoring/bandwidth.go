package scoring

import (
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
)

// neighbour is the rank of the neighbour whose distance the bandwidth rule uses (50 in the paper).
const neighbour = 50

// Bandwidth returns σ by the rule of the 50th nearest neighbour: the mean over the rows of the
// distance to the min(50, n-1)-th nearest other row. Distances are ℓ₂; for Cauchy (the Laplacian
// kernel) ℓ₁, for Laplace √2·ℓ₂. Maps other than cosine get 1. x is row-major [rows·dim]. The time
// grows with rows²·dim, so pass at most 1000 rows.
//
// If the mean is 0, as with many equal rows, σ is the smallest positive distance, or 1 if all rows
// are equal; warning then describes the substitution.
func Bandwidth(x []float32, rows, dim int, d Distribution, m Map) (sigma float64, warning string) {
	if len(x) != rows*dim {
		panic(fmt.Sprintf("scoring: %d numbers for %d rows of %d", len(x), rows, dim))
	}
	if !m.HasBandwidth() {
		return 1, ""
	}
	if rows < 2 {
		return 1, fmt.Sprintf("bandwidth set to 1: %d rows have no neighbours", rows)
	}
	near, least := neighbourDistances(x, rows, dim, d.row().distance)
	sum := 0.0
	for _, v := range near {
		sum += v
	}
	unit := d.row().unit
	switch mean := sum / float64(rows); {
	case mean > 0 && !math.IsInf(mean, 0):
		return mean * unit, ""
	case !math.IsInf(least, 0):
		return least * unit, "bandwidth set to the smallest positive distance between rows: most rows are equal"
	default:
		return 1, "bandwidth set to 1: all rows are equal"
	}
}

// parallelDistances is the number of differences, about 100 µs of work, from which goroutines share
// them.
const parallelDistances = 1 << 18

// neighbourDistances returns each row's distance to its min(50, n-1)-th nearest other row, and the
// smallest positive distance between any two rows (+Inf if all rows are equal).
func neighbourDistances(
	x []float32,
	rows, dim int,
	distance func(a, b []float32) float64,
) (near []float64, least float64) {
	near = make([]float64, rows)
	smallest := make([]float64, rows)
	k := min(neighbour, rows-1)
	parallel.For(rows, 16, rows*rows*dim >= parallelDistances, func(first, next int) {
		others := make([]float64, 0, rows)
		for i := first; i < next; i++ {
			others = others[:0]
			smallest[i] = math.Inf(1)
			for j := range rows {
				if j == i {
					continue
				}
				v := distance(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
				others = append(others, v)
				if v > 0 {
					smallest[i] = min(smallest[i], v)
				}
			}
			slices.Sort(others)
			near[i] = others[k-1]
		}
	})
	return near, slices.Min(smallest)
}

// manhattan returns |a-b|₁.
func manhattan(a, b []float32) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, v := range a {
		sum += math.Abs(float64(v) - float64(b[i]))
	}
	return sum
}

// euclidean returns |a-b|₂.
func euclidean(a, b []float32) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, v := range a {
		d := float64(v) - float64(b[i])
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

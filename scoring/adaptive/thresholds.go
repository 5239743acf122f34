package adaptive

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
)

// column is the distinct values of a coordinate in the training rows, rising.
type column []float32

// maxCoordinates is the number of coordinates that can have thresholds, bounded by the type of a
// product's coordinate.
const maxCoordinates = 1 << 16

// thresholds finds the columns of the rows.
func (l *learner) thresholds() []column {
	if l.columns == nil {
		l.columns = make([]column, min(l.fit.dim, maxCoordinates))
		parallel.On(l.o.Workers, len(l.columns), 1, func(first, next int) {
			for j := first; j < next; j++ {
				l.columns[j] = l.fit.column(j)
			}
		})
	}
	return l.columns
}

// column returns the distinct values of coordinate j.
func (r *rows) column(j int) column {
	values := make([]float32, r.n)
	for i := range values {
		values[i] = r.x[i*r.dim+j] + 0 // zero has one sign
	}
	slices.Sort(values)
	return slices.Clip(slices.Clone(slices.Compact(values)))
}

// midpoints returns the number of thresholds between neighbouring values.
func (c column) midpoints() int { return max(len(c)-1, 0) }

// midpoint returns the threshold between value i and the next, which separates them.
func (c column) midpoint(i int) float32 {
	t := float32((float64(c[i]) + float64(c[i+1])) / 2)
	if t == c[i] {
		return c[i+1]
	}
	return t
}

// nearest returns the threshold next to a value, above or below it if the column has one on that
// side.
func (c column) nearest(v float32, above bool) float32 {
	i, _ := slices.BinarySearch(c, v)
	if !above {
		i--
	}
	return c.midpoint(min(max(i, 0), c.midpoints()-1))
}

const (
	// binThresholds is the greatest number of thresholds of a column that have bins,
	// binsPerCandidate the greatest number of bins per candidate. With more columns, such as
	// thousands of pixels, each has fewer.
	binThresholds, binsPerCandidate = 32, 4
	// lowThreshold is a threshold that most standardized values exceed.
	lowThreshold = -6
)

// bins returns hinges and boxes of order 1 on each column: a box between the values of a column of
// two; otherwise the column itself, as a hinge, and a box and a hinge at each of some quantiles of
// its distinct values. count is M0.
func bins(columns []column, count int) (hinges, boxes []scoring.Product) {
	most := min(binThresholds, max(binsPerCandidate*count/max(2*len(columns), 1), 1))
	for j, c := range columns {
		single := func(box bool, t float32) scoring.Product {
			p := scoring.Product{Box: box, Order: 1}
			p.Coordinate[0] = uint16(j)
			p.Sign[0] = 1
			p.Threshold[0] = t
			return p
		}
		m := c.midpoints()
		switch m {
		case 0:
			continue
		case 1:
			boxes = append(boxes, single(true, c.midpoint(0)))
			continue
		}
		whole := float32(lowThreshold)
		if c[0] <= lowThreshold {
			whole = 2 * c[0]
		}
		hinges = append(hinges, single(false, whole))
		for i := range min(m, most) {
			at := i
			if m > most {
				at = int(math.RoundToEven((float64(i)+0.5)*float64(m)/float64(most) - 0.5))
			}
			t := c.midpoint(at)
			hinges, boxes = append(hinges, single(false, t)), append(boxes, single(true, t))
		}
	}
	return hinges, boxes
}

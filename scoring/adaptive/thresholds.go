package adaptive

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring"
)

// column is the distinct values of a coordinate in the rows learned from, rising.
type column []float32

// maxCoordinates is how many coordinates can have thresholds: those that a product can name.
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

// midpoints returns how many thresholds there are between neighbouring values.
func (c column) midpoints() int { return max(len(c)-1, 0) }

// midpoint returns the threshold between value i and the next, which separates them.
func (c column) midpoint(i int) float32 {
	t := float32((float64(c[i]) + float64(c[i+1])) / 2)
	if t == c[i] {
		return c[i+1]
	}
	return t
}

// beside returns the threshold next to a value, above or below it where there is one.
func (c column) beside(v float32, above bool) float32 {
	i, _ := slices.BinarySearch(c, v)
	if !above {
		i--
	}
	return c.midpoint(min(max(i, 0), c.midpoints()-1))
}

const (
	// binThresholds is how many thresholds of a column have bins at most, binsPerCandidate how many bins there are for a candidate:
	// beyond that, as with thousands of pixels, columns have fewer each.
	binThresholds, binsPerCandidate = 32, 4
	// below is a threshold that most standardized values exceed.
	below = -6
)

// bins returns hinges and boxes of order 1 that look at each column on its own: one that tells two values apart; or the column itself,
// as a hinge, and a box and a hinge at thresholds that are quantiles of its distinct values. count is M0.
func bins(columns []column, count int) (hinges, boxes []scoring.Product) {
	most := min(binThresholds, max(binsPerCandidate*count/max(2*len(columns), 1), 1))
	for j, c := range columns {
		single := func(box bool, t float32) scoring.Product {
			p := scoring.Product{Box: box, Order: 1}
			p.Coordinate[0], p.Sign[0], p.Threshold[0] = uint16(j), 1, t
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
		whole := float32(below)
		if c[0] <= below {
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

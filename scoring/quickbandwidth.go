package scoring

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training"
)

// QuickBandwidth is [Bandwidth] for Gaussian cosines in a fraction of the time. Distances come from products of the
// centred rows in float32, |a|² + |b|² − 2a·b, so σ is off by their rounding, about 1e-5 of it where the distances are
// not far below the spread of the rows. It is for draws that need not be reproducible from its bits: a published σ
// comes from Bandwidth. Calls share its memory.
type QuickBandwidth struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int

	columns  *training.Tall
	crosser  training.Crosser
	products []float64
}

// Of returns σ. Equal rows are at distance zero, as for Bandwidth; where nothing is left but those, it asks Bandwidth.
func (q *QuickBandwidth) Of(x []float32, rows, dim int) float64 {
	if len(x) != rows*dim {
		panic(fmt.Sprintf("scoring: %d numbers for %d rows of %d", len(x), rows, dim))
	}
	if rows < 2 {
		return 1
	}
	if q.columns == nil || q.columns.Rows != dim || q.columns.Columns != rows {
		q.columns, q.products = training.NewTall(dim, rows), make([]float64, rows*rows)
	}
	q.centre(x)
	q.crosser.Workers = q.Workers
	products := q.products
	q.crosser.Square(products, q.columns)
	k, near, squares := min(neighbour, rows-1), make([]float64, rows), make([]float64, rows)
	for i := range squares {
		squares[i] = products[i*rows+i]
	}
	parallel.On(q.Workers, rows, 16, func(first, next int) {
		least := make([]float64, 0, k)
		for i := first; i < next; i++ {
			least = nearest(least[:0], products[i*rows:(i+1)*rows], squares, i)
			near[i] = math.Sqrt(least[k-1])
		}
	})
	sum := 0.0
	for _, v := range near {
		sum += v
	}
	if mean := sum / float64(rows); mean > 0 && !math.IsInf(mean, 0) {
		return mean
	}
	sigma, _ := Bandwidth(x, rows, dim, Gaussian, MapCosine)
	return sigma
}

// centre sets the columns to the rows less their mean.
func (q *QuickBandwidth) centre(x []float32) {
	dim, rows := q.columns.Rows, q.columns.Columns
	column := make([]float32, rows)
	for j := range dim {
		sum := 0.0
		for i := range rows {
			sum += float64(x[i*dim+j])
		}
		mean := sum / float64(rows)
		for i := range rows {
			column[i] = float32(float64(x[i*dim+j]) - mean)
		}
		q.columns.SetRows(j, column)
	}
}

// nearest appends to least, up to its capacity, the least squared distances of row i to the others, rising, given its
// products with all rows and the squares of all rows.
func nearest(least, products, squares []float64, i int) []float64 {
	squares = squares[:len(products)]
	square := squares[i]
	for j, v := range products {
		d := max(square+squares[j]-float64(2*v), 0)
		full := len(least) == cap(least)
		if j == i || full && !(d < least[len(least)-1]) {
			continue
		}
		if full {
			least = least[:len(least)-1]
		}
		at := len(least)
		for least = append(least, d); at > 0 && least[at-1] > d; at-- {
			least[at] = least[at-1]
		}
		least[at] = d
	}
	return least
}

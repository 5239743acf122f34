package scoring

import (
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training"
)

// QuickBandwidth is [Bandwidth] for Gaussian cosines in a fraction of the time. Distances come from
// products of the centred rows in float32, |a|² + |b|² − 2a·b, so σ has a relative error of about
// 1e-5 where distances are not far below the spread of the rows. Use it for draws that need not be
// reproducible from σ alone; a published σ comes from Bandwidth. Calls share its memory.
type QuickBandwidth struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int

	columns  *training.Tall
	crosser  training.Crosser
	products []float64
}

// Of returns σ for x, row-major [rows·dim]. Where the mean distance is zero, it falls back on
// Bandwidth.
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
	k := min(neighbour, rows-1)
	near := make([]float64, rows)
	squares := make([]float64, rows)
	for i := range squares {
		squares[i] = products[i*rows+i]
	}
	parallel.On(q.Workers, rows, 16, func(first, next int) {
		distances, low := make([]float64, rows-1), make([]float64, 0, rows)
		for i := first; i < next; i++ {
			least, most := distancesTo(distances, products[i*rows:(i+1)*rows], squares, i)
			near[i] = math.Sqrt(smallest(distances, k, least, most, low))
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

// distancesTo sets distances to the squared distances from row i to the others, given its products
// with all rows and the squares of all rows, and returns the least and the greatest.
func distancesTo(distances, products, squares []float64, i int) (least, most float64) {
	square := squares[i]
	least, most = math.Inf(1), 0
	for _, part := range [][2]int{{0, i}, {i + 1, len(products)}} {
		own, others := products[part[0]:part[1]], squares[part[0]:part[1]]
		to := distances[len(distances)-len(own):]
		if part[0] == 0 {
			to = distances[:len(own)]
		}
		for j, v := range own {
			d := max(square+others[j]-float64(2*v), 0)
			to[j] = d
			least = min(least, d)
			most = max(most, d)
		}
	}
	return least, most
}

// smallest returns the k-th smallest, counted from 1, of numbers between least and most. It counts
// them in equal steps and sorts only the step that holds the k-th. low is scratch memory for all of
// them.
func smallest(numbers []float64, k int, least, most float64, low []float64) float64 {
	const steps = 256
	var counts [steps]int32
	scale := (steps - 1) / (most - least)
	if !(scale > 0) || math.IsInf(scale, 0) { // all equal, or not finite
		sorted := append(low[:0], numbers...)
		slices.Sort(sorted)
		return sorted[k-1]
	}
	for _, v := range numbers {
		counts[uint8((v-least)*scale)]++
	}
	step, before := 0, 0
	for before+int(counts[step]) < k {
		before += int(counts[step])
		step++
	}
	low = low[:0]
	for _, v := range numbers {
		if int(uint8((v-least)*scale)) == step {
			low = append(low, v)
		}
	}
	slices.Sort(low)
	return low[k-before-1]
}

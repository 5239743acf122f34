package scoring

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring/internal/parallel"
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
		d := distances{all: make([]float64, rows-1), few: make([]float64, rows)}
		for i := first; i < next; i++ {
			d.fill(products[i*rows:(i+1)*rows], squares, i)
			near[i] = math.Sqrt(d.nearest(k))
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

// distances are the squared distances of one row to the others.
type distances struct{ all, few []float64 }

// fill sets them to those of row i, given its products with all rows and the squares of all rows.
func (d *distances) fill(products, squares []float64, i int) {
	squares = squares[:len(products)]
	square, at := squares[i], 0
	for j, v := range products {
		if j == i {
			continue
		}
		d.all[at] = max(square+squares[j]-float64(2*v), 0)
		at++
	}
}

// nearest returns the k-th least, k from 1 on. Only those are looked through that are below what some of them say the limit is.
func (d *distances) nearest(k int) float64 {
	const step = 8
	some := d.few[:0]
	for i := 0; i < len(d.all); i += step {
		some = append(some, d.all[i])
	}
	if guess := k/step + 6; guess < len(some) {
		limit, below := nth(some, guess), 0
		few := d.few[:len(d.all)+1]
		for _, v := range d.all {
			few[below] = v
			if v < limit {
				below++
			}
		}
		if below >= k {
			return nth(few[:below], k-1)
		}
	}
	return nth(d.all, k-1)
}

// nth returns the n-th least of values, from 0 on, which it reorders (Hoare, Algorithm 65: Find, 1961).
func nth(values []float64, n int) float64 {
	for first, last := 0, len(values)-1; first < last; {
		pivot := values[(first+last)/2]
		i, j := first, last
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			last = j
		case n >= i:
			first = i
		default:
			return values[n]
		}
	}
	return values[n]
}

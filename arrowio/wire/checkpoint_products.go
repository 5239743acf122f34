package wire

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/training"
)

// productColumn is the column that tells a Gram from scores.
const productColumn = "product"

// productColumns lays a Gram of D columns out as D rows: shift, sum, and the packed triangle of products, cut into lists
// of ⌊D/2⌋+1 numbers one after the other and filled up with zeros.
func productColumns(p *training.Products) []column {
	n, width := p.Columns(), productWidth(p.Columns())
	product := make([]float64, n*width)
	copy(product, p.Product)
	return []column{
		float64Column("shift", p.Shift), float64Column("sum", p.Sum),
		listColumn(float64Column(productColumn, product), n, width),
	}
}

// productWidth returns the numbers of the triangle in one row of a Gram of n columns: n·productWidth(n) is at least
// n(n+1)/2, and equal for odd n.
func productWidth(n int) int { return n/2 + 1 }

// readProducts undoes productColumns.
func readProducts(rec arrow.Record, rows int64) (*training.Products, error) {
	n := int(rec.NumRows())
	if n < 1 {
		return nil, fmt.Errorf("%w: a Gram without columns", ErrMalformed)
	}
	shift, err := float64Values(rec, "shift")
	if err != nil {
		return nil, err
	}
	sum, err := float64Values(rec, "sum")
	if err != nil {
		return nil, err
	}
	product, err := float64Lists(rec, productColumn, productWidth(n))
	if err != nil {
		return nil, err
	}
	return &training.Products{
		Rows: rows, Shift: slices.Clone(shift), Sum: slices.Clone(sum), Product: slices.Clone(product[:n*(n+1)/2]),
	}, nil
}

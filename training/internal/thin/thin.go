// Package thin multiplies float32 matrices with thin ones, of up to Columns columns, summing in
// float32 over blocks and in float64 across them. It has the products of multinomial logistic
// regression: rows of features with the weights of the classes, and features with the residuals of
// the classes.
//
// The loop exists in AVX-512, in AVX2 with FMA, and in plain Go. The assembly rounds each
// multiply-add once and takes the terms of an element in one order, so AVX-512 and AVX2 give the
// same bits; plain Go also rounds the product.
package thin

import "github.com/eerf-stream/eerf/internal/simd"

//go:generate go run -C ../../../internal/tools ./asm/thin -out ../../training/internal/thin/loops_amd64.s -stubs ../../training/internal/thin/loops_amd64.go -pkg thin

const (
	// Columns is the number of columns of a thin matrix, row-major. Fewer are padded.
	Columns = 16
	// TileRows is the number of rows of the tiles that Products works on.
	TileRows = 16
	// BlockTerms is the number of terms that are summed in float32 before they go to the float64
	// totals.
	BlockTerms = 128
)

// Products adds a product with a thin matrix b [terms·Columns] to a tile of totals c
// [TileRows·Columns]:
//
//	c[i][j] += Σ_t a[t·aTerm+i·aRow]·b[t][j]
//
// Terms are taken in blocks of BlockTerms, the last one shorter: a block is summed in float32 in
// order, starting from zero, and then added to c. Steps through a are in values, so its rows may be
// the rows of a row-major matrix (aTerm = 1) or its columns (aRow = 1). Assembly cannot be
// preempted: keep terms below some ten thousand.
func Products(c []float64, a []float32, aTerm, aRow int, b []float32, terms int) {
	if terms <= 0 || aTerm <= 0 || aRow <= 0 {
		panic("thin: product without terms or with steps that are not positive")
	}
	_ = c[TileRows*Columns-1]
	_ = a[(terms-1)*aTerm+(TileRows-1)*aRow]
	_ = b[terms*Columns-1]
	products(simd.Best(), c, a, aTerm, aRow, b, terms)
}

// productsGo is the plain Go version; see the package comment on its rounding.
func productsGo(c []float64, a []float32, aTerm, aRow int, b []float32, terms int) {
	for first := 0; first < terms; first += BlockTerms {
		for i := range TileRows {
			var sum [Columns]float32
			for t := first; t < min(first+BlockTerms, terms); t++ {
				factor := a[t*aTerm+i*aRow]
				for j, v := range b[t*Columns:][:Columns] {
					sum[j] += float32(factor * v)
				}
			}
			for j, v := range sum {
				c[i*Columns+j] += float64(v)
			}
		}
	}
}

// Command tile generates the kernels of scoring/internal/kernel: the matrix product of a tile of
// rows and features, with the feature map applied to its registers, and the sums of features.
package main

import . "github.com/mmcloughlin/avo/build"

// panel is the number of features in a panel, kernel.Width.
const panel = 48

func main() {
	ConstraintExpr("amd64,!noasm")
	constants()
	featuresAVX512()
	featuresAVX2()
	scoreAVX512()
	sparse(avx512)
	sparse(avx2)
	sparseScore()
	sums(avx512)
	sums(avx2)
	survey()
	nonzeroBits()
	slopes(avx512)
	slopes(avx2)
	rampSlopes(avx512)
	rampSlopes(avx2)
	weigh(avx512,
		[]tile{{isa: avx512, rows: 8, vectors: 3, prefix: "eight"}},
		[]tile{{isa: avx512, rows: 1, vectors: 3, prefix: "one"}},
	)
	weigh(avx2,
		[]tile{
			{isa: avx2, rows: 4, vectors: 3, prefix: "four"},
			{isa: avx2, rows: 4, vectors: 3, offset: 96, prefix: "fourRight"},
		},
		[]tile{{isa: avx2, rows: 1, vectors: 6, prefix: "one"}},
	)
	products(lane{isa: avx512})
	products(lane{isa: avx2})
	products(oneRow)
	transpose()
	Generate()
}

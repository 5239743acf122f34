package thin

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/training/internal/guard"
)

// Numbers of terms that end before, at and after the ends of blocks.
var lengths = []int{1, 2, 15, 16, 17, 127, 128, 129, 255, 256, 300}

func TestProductsAtEveryLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, terms := range lengths {
		for _, rowMajor := range []bool{true, false} {
			aTerm, aRow := 1, terms+3
			if !rowMajor {
				aTerm, aRow = TileRows+5, 1
			}
			a, _ := guard.Slice((terms-1)*aTerm+(TileRows-1)*aRow+1, func() float32 { return float32(r.NormFloat64()) })
			b, _ := guard.Slice(terms*Columns, func() float32 { return float32(r.NormFloat64()) })
			checkLevels(t, a, aTerm, aRow, b, terms)
		}
	}
}

// checkLevels compares every level with float64, and the assembly with itself.
func checkLevels(t *testing.T, a []float32, aTerm, aRow int, b []float32, terms int) {
	t.Helper()
	var fused []float64
	for level := simd.None; level <= simd.Best(); level++ {
		c, whole := guard.Slice(TileRows*Columns, func() float64 { return 0.5 })
		products(level, c, a, aTerm, aRow, b, terms)
		guard.Require(t, whole)
		requireProducts(t, c, a, aTerm, aRow, b, terms)
		if level == simd.None {
			continue
		}
		for i := range fused {
			if math.Float64bits(c[i]) != math.Float64bits(fused[i]) {
				t.Fatalf("%d terms, value %d: %v at level %v and %v at the one before", terms, i, c[i], level, fused[i])
			}
		}
		fused = c
	}
}

// requireProducts compares a tile that started with 0.5 everywhere with sums in float64, within the
// bound of BlockTerms roundings for every block.
func requireProducts(t *testing.T, c []float64, a []float32, aTerm, aRow int, b []float32, terms int) {
	t.Helper()
	for i := range TileRows {
		for j := range Columns {
			want, size := 0.5, 0.0
			for n := range terms {
				term := float64(a[n*aTerm+i*aRow]) * float64(b[n*Columns+j])
				want, size = want+term, size+math.Abs(term)
			}
			if got := c[i*Columns+j]; !(math.Abs(got-want) <= (BlockTerms+1)*0x1p-24*size) {
				t.Fatalf("%d terms, steps %d and %d: element (%d, %d) is %v, want %v", terms, aTerm, aRow, i, j, got, want)
			}
		}
	}
}

func TestProductsPanicsOnShortSlices(t *testing.T) {
	c, a, b := make([]float64, TileRows*Columns), make([]float32, TileRows*4), make([]float32, 4*Columns)
	for name, call := range map[string]func(){
		"terms": func() { Products(c, a, 1, 4, b, 0) },
		"step":  func() { Products(c, a, 0, 4, b, 4) },
		"c":     func() { Products(c[1:], a, 1, 4, b, 4) },
		"a":     func() { Products(c, a[1:], 1, 4, b, 4) },
		"b":     func() { Products(c, a, 1, 4, b[1:], 4) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

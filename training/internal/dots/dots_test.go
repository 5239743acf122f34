package dots

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/training/internal/guard"
)

// Numbers of terms, rows and outputs that fill lanes and tiles, and some that do not.
var (
	someTerms   = []int{1, 2, 7, 8, 9, 15, 16, 17, 100, 500, 503}
	someRows    = []int{0, 1, 3, 4, 5, 8, 13}
	someOutputs = []int{1, 2, 3, 10}
)

// Every level gives the same bits, close to sums in another order, and writes nothing else.
func TestAffineAtEveryLevel(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testAffineAtEveryLevel[float32](t, 0x1p-24) })
	t.Run("float64", func(t *testing.T) { testAffineAtEveryLevel[float64](t, 0) })
}

// testAffineAtEveryLevel allows results a relative rounding error in addition to the one of sums.
func testAffineAtEveryLevel[T float32 | float64](t *testing.T, rounding float64) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, m := range someTerms {
		for _, rows := range someRows {
			for _, outputs := range someOutputs {
				theta, _ := guard.Slice(outputs*m, r.NormFloat64)
				intercept, _ := guard.Slice(outputs, r.NormFloat64)
				z, _ := guard.Slice(rows*m, func() float32 { return float32(r.NormFloat64()) })
				var plain []T
				for level := simd.None; level <= simd.Best(); level++ {
					dst, whole := guard.Slice(rows*outputs, func() T { return 0 })
					affine(level, dst, theta, intercept, z, rows, outputs, m)
					guard.Require(t, whole)
					if level == simd.None {
						plain = slices.Clone(dst)
						requireAffine(t, dst, rounding, theta, intercept, z, rows, outputs, m)
					} else if !slices.Equal(dst, plain) {
						t.Fatalf("%d rows, %d outputs, %d terms: level %v gives other bits than plain Go", rows, outputs, m, level)
					}
				}
			}
		}
	}
}

func requireAffine[T float32 | float64](
	t *testing.T,
	dst []T,
	rounding float64,
	theta, intercept []float64,
	z []float32,
	rows, outputs, m int,
) {
	t.Helper()
	for n := range rows {
		for k := range outputs {
			want, size := intercept[k], math.Abs(intercept[k])
			for i := range m {
				term := theta[k*m+i] * float64(z[n*m+i])
				want, size = want+term, size+math.Abs(term)
			}
			got := float64(dst[n*outputs+k])
			if !(math.Abs(got-want) <= rounding*math.Abs(want)+float64(m+2)*0x1p-52*size) {
				t.Fatalf("%d terms: row %d output %d is %v, want %v", m, n, k, got, want)
			}
		}
	}
}

// A row's result does not depend on the other rows and outputs.
func TestAffineOfARowDoesNotDependOnOtherRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	const rows, outputs, m = 11, 5, 77
	theta, _ := guard.Slice(outputs*m, r.NormFloat64)
	intercept, _ := guard.Slice(outputs, r.NormFloat64)
	z, _ := guard.Slice(rows*m, func() float32 { return float32(r.NormFloat64()) })
	all, one := make([]float32, rows*outputs), make([]float32, 1)
	Affine(all, theta, intercept, z, rows, outputs, m)
	for n := range rows {
		for k := range outputs {
			Affine(one, theta[k*m:(k+1)*m], intercept[k:k+1], z[n*m:(n+1)*m], 1, 1, m)
			if one[0] != all[n*outputs+k] {
				t.Fatalf("row %d output %d: %v alone, %v among others", n, k, one[0], all[n*outputs+k])
			}
		}
	}
}

func TestAffineDoesNotAllocate(t *testing.T) {
	theta, intercept, z, dst := make([]float64, 3*50), make([]float64, 3), make([]float32, 9*50), make([]float32, 27)
	if n := testing.AllocsPerRun(20, func() { Affine(dst, theta, intercept, z, 9, 3, 50) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAffineRefusesOtherLengths(t *testing.T) {
	for _, c := range [][6]int{{2, 2, 5, 9, 4, 10}, {2, 2, 5, 10, 3, 10}, {2, 2, 5, 10, 4, 9}, {-1, 2, 5, 0, 0, 10}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", c)
				}
			}()
			Affine(make([]float32, c[4]), make([]float64, c[5]), make([]float64, c[1]), make([]float32, c[3]), c[0], c[1], c[2])
		}()
	}
}

package training

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// randomTall draws a matrix, and numbers beyond the last column, which must not matter.
func randomTall(rng *rand.Rand, rows, columns int) (t *Tall, rowMajor []float32) {
	t, rowMajor = NewTall(rows, columns), make([]float32, rows*columns)
	for i := range t.Data {
		t.Data[i] = float32(math.NaN())
	}
	for i := range rowMajor {
		rowMajor[i] = float32(rng.NormFloat64())
	}
	half := rows / 2
	t.SetRows(half, rowMajor[half*columns:])
	t.SetRows(0, rowMajor[:half*columns])
	return t, rowMajor
}

// requireCross compares totals with sums in float64, within the bound for the roundings of a block.
func requireCross(t *testing.T, got []float64, a []float32, m int, b []float32, d, rows int) {
	t.Helper()
	for i := range m {
		for j := range d {
			want, size := 0.0, 0.0
			for r := range rows {
				term := float64(a[r*m+i]) * float64(b[r*d+j])
				want, size = want+term, size+math.Abs(term)
			}
			if v := got[i*d+j]; !(math.Abs(v-want) <= (kernel.BlockRows+1)*unit*size) {
				t.Fatalf("%d rows, %d by %d: element (%d, %d) is %v, want %v", rows, m, d, i, j, v, want)
			}
		}
	}
}

func TestCrossEqualsSumsInFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c Crosser // one for all shapes
	for _, rows := range []int{1, 2, 127, 128, 129, 300} {
		for _, m := range []int{1, 7, 8, 47, 48, 49, 100} {
			a, left := randomTall(rng, rows, m)
			for _, d := range []int{1, 16, 17, 48, 50, 97} {
				b, right := randomTall(rng, rows, d)
				dst := slices.Repeat([]float64{math.NaN()}, m*d)
				c.Cross(dst, a, b)
				requireCross(t, dst, left, m, right, d, rows)
			}
			dst := slices.Repeat([]float64{math.NaN()}, m*m)
			c.Square(dst, a)
			requireCross(t, dst, left, m, left, m, rows)
			whole := make([]float64, m*m)
			c.Cross(whole, a, a)
			requireSameBits(t, "square", dst, whole)
		}
	}
}

func TestSecondCrossDoesNotAllocate(t *testing.T) {
	a, b := NewTall(200, 60), NewTall(200, 20)
	c, dst := Crosser{Workers: 1}, make([]float64, 60*20)
	if n := testing.AllocsPerRun(3, func() { c.Cross(dst, a, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package training

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// Values far beyond the rows that decided the scale of their column widen the scale. They are
// outliers, not errors.
func TestLateHugeValues(t *testing.T) {
	for _, row := range []int{0, 127, 128, 129, 511, 512, 700, 999} {
		d := randomTable(6, 1000, 5, 2)
		d.z[row*5+2], d.y[row*2+1] = 1e30, -1e25
		f, err := Train(d.sums(), nil, usual)
		if err != nil {
			t.Fatalf("row %d: %v", row, err)
		}
		requireFinite(t, f)
		c, err := centre(d.sums().gram.Settled())
		if err != nil {
			t.Fatal(err)
		}
		requireClose(t, "variance with an outlier", []float64{c.cov.At(2, 2), c.yVar[1]},
			[]float64{1e60 * 0.999 / 1000, 1e50 * 0.999 / 1000}, 1e-5)
		plain, err := centre(randomTable(6, 1000, 5, 2).sums().gram.Settled())
		if err != nil {
			t.Fatal(err)
		}
		requireClose(t, "variances without", []float64{c.cov.At(1, 1), c.yVar[0]},
			[]float64{plain.cov.At(1, 1), plain.yVar[0]}, 1e-6)
	}
}

// lateTable grows by 1e10 every 150 rows, from 1e-30 to 1e30, in a column that differs from output
// to feature.
func lateTable() table {
	d := randomTable(7, 1050, 50, 1)
	for n := range d.rows {
		size := float32(math.Pow(10, float64(n/150*10-30)))
		d.z[n*50+7] *= size
		d.z[n*50+48] /= size
		d.y[n] *= size
	}
	return d
}

func TestLateHugeValuesDependOnRowOrderAlone(t *testing.T) {
	d, r := lateTable(), rand.New(rand.NewPCG(8, 8))
	want := values(d.sums())
	if !finite(want) {
		t.Fatal("sums are not finite")
	}
	for range 5 {
		requireSameBits(t, "random calls", values(randomCalls(r, d)), want)
	}
	first := d.part(0, 400).sums()
	first.Merge(d.part(400, d.rows).sums())
	got, err := centre(first.gram.Settled())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := centre(d.sums().gram.Settled())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []int{0, 7, 48} {
		requireClose(t, "merged variance", []float64{got.cov.At(j, j)}, []float64{whole.cov.At(j, j)}, 1e-5)
	}
	requireClose(t, "merged variance of y", got.yVar, whole.yVar, 1e-5)
}

func TestDifferencesBeyondFloat32AreRefused(t *testing.T) {
	d := randomTable(9, 300, 3, 1)
	for n := range 128 {
		d.z[n*3] = -math.MaxFloat32
	}
	d.z[200*3] = math.MaxFloat32
	if _, err := Train(d.sums(), nil, usual); !errors.Is(err, ErrNotFinite) {
		t.Fatalf("error %v, want %v", err, ErrNotFinite)
	}
}

package training

import (
	"math"
	"testing"
)

func TestCovariancesEqualTwoPasses(t *testing.T) {
	d := randomTable(3, 400, 50, 3)
	c, err := d.sums().Covariances()
	if err != nil {
		t.Fatal(err)
	}
	columns := d.features + d.outputs
	value := func(row, column int) float64 {
		if column < d.features {
			return float64(d.z[row*d.features+column])
		}
		return float64(d.y[row*d.outputs+column-d.features])
	}
	mean := make([]float64, columns)
	for i := range columns {
		for row := range d.rows {
			mean[i] += value(row, i) / float64(d.rows)
		}
	}
	cov := func(i, j int) (sum float64) {
		for row := range d.rows {
			sum += (value(row, i) - mean[i]) * (value(row, j) - mean[j]) / float64(d.rows)
		}
		return sum
	}
	for j := range columns {
		for i := range j + 1 {
			size := math.Sqrt(cov(i, i) * cov(j, j))
			if got := c.Cov(i, j); math.Abs(got-cov(i, j)) > 1e-6*size || c.Cov(j, i) != got {
				t.Fatalf("covariance of %d and %d is %v, want %v", i, j, got, cov(i, j))
			}
		}
		if off := math.Abs(c.Mean(j) - mean[j]); off > 1e-6*math.Sqrt(cov(j, j)) {
			t.Fatalf("mean of %d is off by %v", j, off)
		}
	}
}

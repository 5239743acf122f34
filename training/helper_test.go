package training

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// usual are the options of tests that are not about options: an intercept and the relative grid.
var usual = Options{Intercept: true}

// table is rows of features and outputs in memory.
type table struct {
	z, y                    []float32
	rows, features, outputs int
}

// randomTable draws features like cosines scaled by 1/√M and outputs that depend on them
// nonlinearly.
func randomTable(seed uint64, rows, features, outputs int) table {
	r := rand.New(rand.NewPCG(seed, 1))
	t := table{rows: rows, features: features, outputs: outputs}
	scale := 1 / math.Sqrt(float64(features))
	for range rows {
		x := r.NormFloat64()
		for m := range features {
			t.z = append(t.z, float32(math.Cos(x*float64(m%7)+r.Float64()*2+float64(m))*scale))
		}
		for k := range outputs {
			t.y = append(t.y, float32(math.Sin(2*x+float64(k))*math.Pow(10, float64(k%3))+0.1*r.NormFloat64()+3))
		}
	}
	return t
}

func (t table) part(from, to int) table {
	return table{
		z: t.z[from*t.features : to*t.features], y: t.y[from*t.outputs : to*t.outputs],
		rows: to - from, features: t.features, outputs: t.outputs,
	}
}

func (t table) sums() *Sums {
	s := NewSums(t.features, t.outputs)
	s.Add(t.z, t.rows, t.y)
	return s
}

// naiveRidge solves for one λ from the rows themselves: two-pass centring in float64, then the
// singular value decomposition of the row matrix. It returns K×M weights and K intercepts.
func naiveRidge(t *testing.T, d table, lambda float64, intercept bool) (theta, theta0 []float64) {
	t.Helper()
	z := mat.NewDense(d.rows, d.features, widen(d.z))
	y := mat.NewDense(d.rows, d.outputs, widen(d.y))
	zMean, yMean := make([]float64, d.features), make([]float64, d.outputs)
	if intercept {
		zMean, yMean = centreColumns(z), centreColumns(y)
	}
	var svd mat.SVD
	if !svd.Factorize(z, mat.SVDThin) {
		t.Fatal("singular value decomposition did not converge")
	}
	values := svd.Values(nil)
	var u, v, uy, w mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	uy.Mul(u.T(), y)
	for i, s := range values {
		for k := range d.outputs {
			uy.Set(i, k, uy.At(i, k)*s/(s*s+lambda*float64(d.rows)))
		}
	}
	w.Mul(&v, &uy)
	theta0 = yMean
	for k := range d.outputs {
		for m := range d.features {
			theta = append(theta, w.At(m, k))
			theta0[k] -= w.At(m, k) * zMean[m]
		}
	}
	return theta, theta0
}

func widen(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

func centreColumns(m *mat.Dense) []float64 {
	rows, columns := m.Dims()
	mean := make([]float64, columns)
	for j := range mean {
		for i := range rows {
			mean[j] += m.At(i, j)
		}
		mean[j] /= float64(rows)
		for i := range rows {
			m.Set(i, j, m.At(i, j)-mean[j])
		}
	}
	return mean
}

// rowLoss returns the mean squared loss of each output of m over the rows, in float64.
func rowLoss(m *Model, d table) []float64 {
	loss := make([]float64, d.outputs)
	for n := range d.rows {
		for k := range loss {
			f := m.Intercept[k]
			for j := range d.features {
				f += m.Theta[k*d.features+j] * float64(d.z[n*d.features+j])
			}
			e := f - float64(d.y[n*d.outputs+k])
			loss[k] += e * e / float64(d.rows)
		}
	}
	return loss
}

// requireClose fails unless |got−want| <= tolerance·max|want| for every element.
func requireClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*largest) {
			t.Fatalf("%s: value %d is %v, want %v within %v of %v", what, i, got[i], want[i], tolerance, largest)
		}
	}
}

func requireSameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: value %d is %v, want %v to the bit", what, i, got[i], want[i])
		}
	}
}

func requirePanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

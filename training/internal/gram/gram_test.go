package gram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// rows is a table of features and outputs in memory.
type rows struct {
	z, y                 []float32
	n, features, outputs int
}

// randomRows draws columns that differ in mean and spread by some orders of magnitude.
func randomRows(r *rand.Rand, n, features, outputs int) rows {
	d := rows{n: n, features: features, outputs: outputs}
	mean, spread := make([]float64, features+outputs), make([]float64, features+outputs)
	for i := range mean {
		mean[i], spread[i] = 100*r.NormFloat64(), math.Pow(10, 4*r.Float64()-3)
	}
	for range n {
		common := r.NormFloat64()
		for i := range mean {
			v := float32(mean[i] + spread[i]*(r.NormFloat64()+common))
			if i < features {
				d.z = append(d.z, v)
			} else {
				d.y = append(d.y, v)
			}
		}
	}
	return d
}

func (d rows) part(from, to int) rows {
	return rows{
		z: d.z[from*d.features : to*d.features], y: d.y[from*d.outputs : to*d.outputs],
		n: to - from, features: d.features, outputs: d.outputs,
	}
}

func (d rows) addTo(g *Gram) {
	for n := range d.n {
		p := d.part(n, n+1)
		g.Add(p.z, p.y)
	}
}

func (d rows) gram() *Gram {
	g := New(d.features, d.outputs)
	d.addTo(g)
	return g
}

// column returns value i of row n, where the last column is the ones.
func (d rows) column(n, i int) float64 {
	switch {
	case i < d.features:
		return float64(d.z[n*d.features+i])
	case i < d.features+d.outputs:
		return float64(d.y[n*d.outputs+i-d.features])
	}
	return 1
}

// requireMoments compares every element with sums in float64 about the same shift. Its error is at
// most that of a chain of kernel.BlockRows roundings, plus the rounding of the two values; slack is
// added for recoding.
func requireMoments(t *testing.T, m *Moments, d rows, slack float64) {
	t.Helper()
	columns := d.features + d.outputs + 1
	coded := make([][]float64, columns)
	for i := range coded {
		coded[i] = make([]float64, d.n)
		for n := range d.n {
			coded[i][n] = (d.column(n, i) - m.Shift(i)) * m.Scale(i)
		}
	}
	for j := range columns {
		for i := range j + 1 {
			want, size := 0.0, 0.0
			for n, v := range coded[i] {
				want += v * coded[j][n]
				size += math.Abs(v * coded[j][n])
			}
			tolerance := (kernel.BlockRows + 3) * 0x1p-24 * (size + slack*float64(d.n))
			if got := m.At(i, j); !(math.Abs(got-want) <= tolerance) {
				t.Fatalf("%d rows of %d and %d: element (%d, %d) is %v, want %v within %v",
					d.n, d.features, d.outputs, i, j, got, want, tolerance)
			}
		}
	}
	if m.Rows() != float64(d.n) || m.Features() != d.features || m.Outputs() != d.outputs {
		t.Fatalf("%v rows of %d and %d, want %d", m.Rows(), m.Features(), m.Outputs(), d.n)
	}
}

func TestMomentsEqualThoseInFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 7, 8, 9, 127, 128, 129, 511, 512, 513, 700} {
		for _, features := range []int{1, 3, 7, 8, 15, 16, 17, 47, 48, 49, 63, 64, 65, 100} {
			d := randomRows(r, n, features, 1+r.IntN(3))
			requireMoments(t, d.gram().Settled(), d, 0)
		}
	}
}

// Parts whose first rows differ from the others' are centred and scaled differently. The rows of
// the last part are added to the merged sums.
func TestSumsOfPartsEqualOneSum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, cuts := range [][]int{
		{0, 300},
		{0, 1, 300},
		{0, 1, 300, 300},
		{0, 0, 130, 300, 300},
		{0, 100, 200, 300},
		{0, 299, 300},
	} {
		for _, features := range []int{1, 46, 47, 60} {
			d := randomRows(r, cuts[len(cuts)-1], features, 1)
			merged := New(d.features, d.outputs)
			sum := merged.Settled()
			for i := 1; i < len(cuts); i++ {
				part := d.part(cuts[i-1], cuts[i])
				sum = sum.Plus(part.gram().Settled())
				if i == len(cuts)-1 {
					part.addTo(merged)
				} else {
					merged.Merge(part.gram(), 1)
				}
			}
			requireMoments(t, merged.Settled(), d, 1)
			requireMoments(t, sum, d, 1)
		}
	}
}

// Merged sums keep track of their rounding errors.
func TestMultipliedOfMergedSums(t *testing.T) {
	d := randomRows(rand.New(rand.NewPCG(9, 9)), 1500, 3, 1)
	for n := 1000; n < d.n; n++ {
		d.z[n*3] += 1e6
	}
	large, small := d.part(0, 1000).gram(), d.part(1000, d.n).gram()
	l, s := large.Settled(), small.Settled()
	for name, merged := range map[string]*Moments{"plus": s.Plus(l), "merge": merge(small, large).Settled()} {
		if merged.Shift(0) != l.Shift(0) {
			t.Errorf("%s: shift %v, want %v of more rows", name, merged.Shift(0), l.Shift(0))
		}
		ratio := merged.Scale(0) / s.Scale(0)
		want := l.Multiplied(0) + ratio*ratio*s.Multiplied(0)
		if got := merged.Multiplied(0); math.Abs(got-want) > 0x1p-44*merged.At(0, 0) || merged.At(0, 0) < 1e3*want {
			t.Errorf("%s: %v was multiplied, want %v, and the square is %v", name, got, want, merged.At(0, 0))
		}
	}
}

// merge merges a copy of from into one of into.
func merge(into, from *Gram) *Gram {
	c := into.Clone()
	c.Merge(from, 1)
	return c
}

func TestConstantsAndExtremes(t *testing.T) {
	for _, scale := range []float32{1e-36, 1e-30, 1, 1e30, 1e36} {
		d := randomRows(rand.New(rand.NewPCG(4, 4)), 1000, 3, 1)
		for n := range d.n {
			d.z[n*3] = scale / 3
			d.z[n*3+1] *= scale / 1e3
		}
		m := d.gram().Settled()
		requireMoments(t, m, d, 0)
		if m.At(0, 0) != 0 || m.Sum(0) != 0 || float32(m.Shift(0)) != scale/3 {
			t.Fatalf("scale %g: constant has the sums %v and %v", scale, m.At(0, 0), m.Sum(0))
		}
	}
	d := randomRows(rand.New(rand.NewPCG(5, 5)), 200, 3, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, n := range []int{0, 199} {
			e := d
			e.z = slices.Clone(d.z)
			e.z[n*3+1] = float32(bad)
			if v := e.gram().Settled().At(1, 1); !math.IsNaN(v) && !math.IsInf(v, 0) {
				t.Errorf("%v in row %d: %v", bad, n, v)
			}
		}
	}
}

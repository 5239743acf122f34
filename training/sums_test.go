package training

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

func values(s *Sums) []float64 { return s.gram.Settled().Values() }

func TestMomentsDependOnRowOrderAlone(t *testing.T) {
	shapes := []struct{ rows, features, outputs int }{
		{1, 1, 1}, {127, 3, 2}, {128, 5, 1}, {129, 40, 3}, {700, 150, 2}, {2000, 1, 4}, {1100, 280, 1},
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, shape := range shapes {
		d := randomTable(uint64(shape.rows), shape.rows, shape.features, shape.outputs)
		want := values(d.sums())
		for _, threads := range []int{1, 2, 5} {
			previous := runtime.GOMAXPROCS(threads)
			for range 5 {
				s := randomCalls(r, d)
				requireSameBits(t, "random calls", values(s), want)
				if s.Rows != int64(d.rows) {
					t.Fatalf("%d rows counted of %d", s.Rows, d.rows)
				}
			}
			runtime.GOMAXPROCS(previous)
		}
	}
}

// randomCalls sums d in calls of random lengths, with readers and copies in between.
func randomCalls(r *rand.Rand, d table) *Sums {
	s := NewSums(d.features, d.outputs)
	for at := 0; at < d.rows; {
		next := min(at+r.IntN(2+r.IntN(300)), d.rows)
		p := d.part(at, next)
		s.Add(p.z, p.rows, p.y)
		if r.IntN(3) == 0 {
			values(s)
		}
		if r.IntN(3) == 0 {
			s = s.Clone()
		}
		at = next
	}
	return s
}

// requireSameMoments compares means and covariances: sums that were centred differently have no other figures in
// common.
func requireSameMoments(t *testing.T, got, want *Sums) {
	t.Helper()
	if got.Rows != want.Rows {
		t.Fatalf("%d rows, want %d", got.Rows, want.Rows)
	}
	g, err := centre(got.gram.Settled())
	if err != nil {
		t.Fatal(err)
	}
	w, err := centre(want.gram.Settled())
	if err != nil {
		t.Fatal(err)
	}
	requireClose(t, "means of z", g.zMean, w.zMean, 5e-7)
	requireClose(t, "means of y", g.yMean, w.yMean, 5e-7)
	requireClose(t, "variances of y", g.yVar, w.yVar, 1e-6)
	requireClose(t, "covariances", elements(g.cov), elements(w.cov), 1e-6)
	requireClose(t, "covariances with y", g.cross, w.cross, 1e-6)
}

func elements(m *linear.Matrix) []float64 {
	var all []float64
	for i := range m.Rows() {
		for j := i; j < m.Columns(); j++ {
			all = append(all, m.At(i, j))
		}
	}
	return all
}

func TestMergeOfPartsEqualsOnePass(t *testing.T) {
	d := randomTable(2, 1000, 30, 2)
	whole := d.sums()
	for _, cuts := range [][]int{{0, 1000}, {0, 1, 1000}, {0, 128, 600, 1000}, {0, 0, 333, 999, 1000}} {
		merged, again := NewSums(d.features, d.outputs), NewSums(d.features, d.outputs)
		for i := 1; i < len(cuts); i++ {
			part := d.part(cuts[i-1], cuts[i]).sums()
			copied := part.Clone()
			merged.Merge(part)
			again.Merge(copied)
			requireSameBits(t, "merged operand", values(part), values(copied))
		}
		requireSameMoments(t, merged, whole)
		requireSameBits(t, "merged again", values(merged), values(again))
	}
}

func TestConstantIsExact(t *testing.T) {
	const rows = 1 << 19
	z := make([]float32, rows)
	for i := range z {
		z[i] = 0.1
	}
	s := NewSums(1, 1)
	s.Add(z, rows, z)
	c, err := centre(s.gram.Settled())
	if err != nil || c.constant != 1 || c.yVar[0] != 0 {
		t.Fatalf("constant feature not seen: %+v, %v", c, err)
	}
	requireClose(t, "means", []float64{c.zMean[0], c.yMean[0]}, []float64{float64(z[0]), float64(z[0])}, 0)
}

func TestSmallVarianceSurvivesCentring(t *testing.T) {
	// A spread of 2e-5 of the mean: a variance of 4e-10 of the mean square.
	const rows = 20000
	r := rand.New(rand.NewPCG(4, 4))
	d := table{rows: rows, features: 1, outputs: 1}
	for range rows {
		d.z = append(d.z, float32(1+2e-5*r.NormFloat64()))
		d.y = append(d.y, float32(1e6+20*r.NormFloat64()))
	}
	c, err := centre(d.sums().gram.Settled())
	if err != nil {
		t.Fatal(err)
	}
	want := func(values []float32) float64 {
		mean, sum := 0.0, 0.0
		for _, v := range values {
			mean += float64(v) / rows
		}
		for _, v := range values {
			sum += (float64(v) - mean) * (float64(v) - mean) / rows
		}
		return sum
	}
	requireClose(t, "variance of z", []float64{c.cov.At(0, 0)}, []float64{want(d.z)}, 1e-4)
	requireClose(t, "variance of y", []float64{c.yVar[0]}, []float64{want(d.y)}, 1e-4)
}

func TestOutputMeanAndMajorityClass(t *testing.T) {
	s := NewSums(1, 3)
	if got := s.OutputMean(); got[0] != 0 || len(got) != 3 {
		t.Fatalf("mean of no rows %v", got)
	}
	class := []int32{2, 1, 2, 0}
	y := make([]float32, 12)
	CodeClasses(y, class, 3)
	s.Add(make([]float32, 4), 4, y)
	requireClose(t, "mean", s.OutputMean(), []float64{-0.5, -0.5, 0}, 1e-15)
	if got := s.MajorityClass(); got != 2 {
		t.Fatalf("majority class %d, want 2", got)
	}
}

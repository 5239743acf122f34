package training

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// The reference: every element as the plain two-level sum that gram.go documents.
func naiveGram(d table) packed {
	size := d.features + d.outputs + 1
	total := newPacked(size)
	for start := 0; start < d.rows; start += blockRows {
		block := newPacked(size)
		for n := start; n < min(start+blockRows, d.rows); n++ {
			p := d.part(n, n+1)
			row := appendRow(nil, p.z, p.y)
			for i := range size {
				for j := i; j < size; j++ {
					block.row(i)[j-i] += row[i] * row[j]
				}
			}
		}
		total.add(block)
	}
	return total
}

func TestMomentsDependOnRowOrderAlone(t *testing.T) {
	shapes := []struct{ rows, features, outputs int }{{1, 1, 1}, {127, 3, 2}, {128, 5, 1}, {129, 40, 3}, {700, 150, 2}, {300, 1, 4}}
	r := rand.New(rand.NewPCG(7, 7))
	for _, shape := range shapes {
		d := randomTable(uint64(shape.rows), shape.rows, shape.features, shape.outputs)
		want := naiveGram(d)
		for _, threads := range []int{1, 2, 5} {
			previous := runtime.GOMAXPROCS(threads)
			requireSameBits(t, "one call", d.sums().settled().data, want.data)
			for range 5 {
				s := NewSums(d.features, d.outputs)
				for at := 0; at < d.rows; {
					next := min(at+r.IntN(2+r.IntN(300)), d.rows)
					p := d.part(at, next)
					s.Add(p.z, p.rows, p.y)
					if r.IntN(3) == 0 {
						s.settled() // a reader in between
					}
					if r.IntN(3) == 0 {
						s = s.Clone()
					}
					at = next
				}
				requireSameBits(t, "random calls", s.settled().data, want.data)
				if s.Rows != int64(d.rows) {
					t.Fatalf("%d rows counted of %d", s.Rows, d.rows)
				}
			}
			runtime.GOMAXPROCS(previous)
		}
	}
}

func TestCloneIsIndependent(t *testing.T) {
	d := randomTable(1, 50, 4, 1)
	s := d.sums()
	before := s.Clone()
	s.Add(d.z, d.rows, d.y)
	requireSameBits(t, "clone", before.settled().data, d.sums().settled().data)
	if before.Rows != 50 || s.Rows != 100 {
		t.Fatalf("rows %d and %d, want 50 and 100", before.Rows, s.Rows)
	}
}

func TestMergeOfPartsEqualsOnePass(t *testing.T) {
	d := randomTable(2, 1000, 30, 2)
	whole := d.sums()
	for _, cuts := range [][]int{{0, 1000}, {0, 1, 1000}, {0, 128, 600, 1000}, {0, 0, 333, 999, 1000}} {
		merged := NewSums(d.features, d.outputs)
		for i := 1; i < len(cuts); i++ {
			part := d.part(cuts[i-1], cuts[i]).sums()
			copied := part.Clone()
			merged.Merge(part)
			requireSameBits(t, "merged operand", part.settled().data, copied.settled().data)
		}
		requireClose(t, "merged moments", merged.settled().data, whole.settled().data, 1e-12)
		if merged.Rows != whole.Rows {
			t.Fatalf("%d rows, want %d", merged.Rows, whole.Rows)
		}
	}
}

func TestMergeIntoPendingRows(t *testing.T) {
	d := randomTable(3, 300, 6, 1)
	s := d.part(0, 100).sums()
	s.Merge(d.part(100, 250).sums())
	last := d.part(250, 300)
	s.Add(last.z, last.rows, last.y)
	requireClose(t, "moments", s.settled().data, d.sums().settled().data, 1e-12)
}

func TestTwoLevelSumsKeepDigits(t *testing.T) {
	// A constant is the worst case of plain summation, because its rounding errors all have one sign.
	const rows = 1 << 19
	z := make([]float32, rows)
	for i := range z {
		z[i] = 0.1
	}
	s := NewSums(1, 1)
	s.Add(z, rows, z)
	exact := float64(float32(0.1)) * float64(float32(0.1))
	if got := s.settled().at(0, 0) / rows; math.Abs(got/exact-1) > 1e-13 {
		t.Fatalf("mean square of a constant off by %.2g", got/exact-1)
	}
	c, err := centre(s)
	if err != nil || c.constant != 1 || c.yVar[0] != 0 {
		t.Fatalf("constant feature not seen: %+v, %v", c, err)
	}
}

func TestSmallVarianceSurvivesCentring(t *testing.T) {
	// Spread 2e-5 of the mean: a variance of 4e-10 of the mean square.
	const rows = 20000
	r := rand.New(rand.NewPCG(4, 4))
	d := table{rows: rows, features: 1, outputs: 1}
	for range rows {
		d.z = append(d.z, float32(1+2e-5*r.NormFloat64()))
		d.y = append(d.y, float32(1e6+20*r.NormFloat64()))
	}
	c, err := centre(d.sums())
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
	requireClose(t, "variance of z", []float64{c.cov[0]}, []float64{want(d.z)}, 1e-4)
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

func TestSumsPanicOnWrongShapes(t *testing.T) {
	s := NewSums(2, 1)
	requirePanic(t, "no features", func() { NewSums(0, 1) })
	requirePanic(t, "no outputs", func() { NewSums(1, 0) })
	requirePanic(t, "short z", func() { s.Add(make([]float32, 3), 2, make([]float32, 2)) })
	requirePanic(t, "short y", func() { s.Add(make([]float32, 4), 2, make([]float32, 1)) })
	requirePanic(t, "merge of another shape", func() { s.Merge(NewSums(3, 1)) })
}

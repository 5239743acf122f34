package training

import (
	"math/rand/v2"
	"runtime"
	"testing"
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

package training

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// classTable draws classes that depend only partly on the features, like those of digits.
func classTable(seed uint64, rows, features, classes int) (fit, heldOut *Rows) {
	r := rand.New(rand.NewPCG(seed, 2))
	weights := make([]float64, 8*classes)
	for i := range weights {
		weights[i] = 2 * r.NormFloat64()
	}
	mix := make([]float64, 8*features)
	for i := range mix {
		mix[i] = r.NormFloat64()
	}
	fit, heldOut = NewRows(features, classes), NewRows(features, classes)
	z := make([]float32, features)
	for n := range rows {
		var x [8]float64
		for i := range x {
			x[i] = r.NormFloat64()
		}
		best, class := math.Inf(-1), 0
		for k := range classes {
			f := -math.Log(r.ExpFloat64())
			for i, v := range x {
				f += weights[k*8+i] * math.Sin(v)
			}
			if f > best {
				best, class = f, k
			}
		}
		for m := range z {
			sum := float64(m)
			for i, v := range x {
				sum += 0.5 * mix[m*8+i] * v
			}
			z[m] = float32(math.Cos(sum) / math.Sqrt(float64(features)))
		}
		to := fit
		if n%5 == 4 {
			to = heldOut
		}
		to.Add(z, []int32{int32(class)})
	}
	return fit, heldOut
}

// BenchmarkLogistic measures TrainLogistic: the choice of λ and the final fit.
func BenchmarkLogistic(b *testing.B) {
	for _, c := range []struct{ rows, features, classes int }{
		{10000, 100, 2},
		{10000, 100, 10},
		{10000, 450, 10},
		{20000, 100, 26},
		{60000, 450, 10},
		{133000, 500, 2},
		{133000, 500, 10},
	} {
		b.Run(fmt.Sprintf("rows=%d/features=%d/classes=%d", c.rows, c.features, c.classes), func(b *testing.B) {
			if testing.Short() && c.rows*c.features*c.classes > 2e6 {
				b.Skip("takes seconds")
			}
			fit, heldOut := classTable(1, c.rows, c.features, c.classes)
			b.ResetTimer()
			var iterations int
			for b.Loop() {
				f, err := TrainLogistic(context.Background(), fit, heldOut, usual)
				if err != nil {
					b.Fatal(err)
				}
				iterations = f.Last.Iterations
				for _, p := range f.Path {
					iterations += p.Iterations
				}
			}
			b.ReportMetric(float64(iterations), "iterations")
		})
	}
}

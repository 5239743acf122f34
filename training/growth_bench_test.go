package training

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// growthCall is a call whose time is measured as one of its numbers grows by a decade.
type growthCall struct{ rows, features, outputs int }

// forGrowth measures the operation returned by prepare as N, M and K grow, on one processor and on two. With -short it
// uses the smallest values, to check that everything runs.
func forGrowth(b *testing.B, base growthCall, vary []string, prepare func(c growthCall) func()) {
	b.Helper()
	values := map[string][]int{
		"rows": {1000, 2000, 4000, 7000, 10000}, "features": {100, 200, 400, 700, 1000}, "outputs": {1, 2, 4, 7, 10},
	}
	if testing.Short() {
		base = growthCall{rows: 64, features: 20, outputs: 1}
	}
	for _, axis := range vary {
		for i, value := range values[axis] {
			if testing.Short() && i > 0 {
				break
			}
			c := base
			switch axis {
			case "rows":
				c.rows = value
			case "features":
				c.features = value
			case "outputs":
				c.outputs = value
			}
			op := prepare(c)
			for _, procs := range []int{1, 2} {
				name := fmt.Sprintf("vary=%s/rows=%d/features=%d/outputs=%d/procs=%d", axis, c.rows, c.features, c.outputs, procs)
				b.Run(name, func(b *testing.B) {
					if procs > runtime.NumCPU() {
						b.Skip("not as many processors")
					}
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					for b.Loop() {
						op()
					}
				})
			}
		}
	}
}

// growthNumbers returns n normal numbers.
func growthNumbers(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// BenchmarkGrowthGram adds rows to the sums.
func BenchmarkGrowthGram(b *testing.B) {
	forGrowth(b, growthCall{rows: 4096, features: 1000, outputs: 1}, []string{"rows", "features", "outputs"},
		func(c growthCall) func() {
			z, y, s := growthNumbers(c.rows*c.features), growthNumbers(c.rows*c.outputs), NewSums(c.features, c.outputs)
			return func() { s.Add(z, c.rows, y) }
		})
}

// BenchmarkGrowthTrain solves for every λ, chooses, and fits again; the rows are in the sums already.
func BenchmarkGrowthTrain(b *testing.B) {
	forGrowth(b, growthCall{rows: 2000, features: 400, outputs: 1}, []string{"features", "outputs"},
		func(c growthCall) func() {
			sums := func() *Sums {
				s := NewSums(c.features, c.outputs)
				s.Add(growthNumbers(c.rows*c.features), c.rows, growthNumbers(c.rows*c.outputs))
				return s
			}
			fit, held := sums(), sums()
			return func() {
				if _, err := Train(fit, held, usual); err != nil {
					b.Fatal(err)
				}
			}
		})
}

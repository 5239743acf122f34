package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestTurnerMultipliesByThePowerOfG(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, dim := range []int{1, 3, 48, 77} {
		for _, rank := range []int{0, 1, dim} {
			for _, count := range []int{1, turnedAtOnce - 1, turnedAtOnce + 5} {
				t.Run(fmt.Sprintf("%d of %d, %d vectors", rank, dim, count), func(t *testing.T) {
					_, columns, err := eigen(randomPSD(dim, dim))
					if err != nil {
						t.Fatal(err)
					}
					rows := mat.DenseCopyOf(columns.T())
					g := &gradients{dim: dim, vectors: rows.RawMatrix().Data[:rank*dim]}
					for i := range rank {
						g.values = append(g.values, 1/float64(i+1))
					}
					x := make([]float32, count*dim)
					for i := range x {
						x[i] = float32(rng.NormFloat64())
					}
					for _, p := range []power{quarter, math.Sqrt} {
						got := slices.Clone(x)
						g.turner(p, 0).turn(got, got)
						for i := range count {
							want := powered(g, p, x[i*dim:(i+1)*dim])
							for j, v := range want {
								if math.Abs(float64(got[i*dim+j])-v) > 1e-5*math.Sqrt(float64(dim)) {
									t.Fatalf("number %d of vector %d is %v, want %v", j, i, got[i*dim+j], v)
								}
							}
						}
					}
				})
			}
		}
	}
}

// powered is (G + floor)^p·u in float64.
func powered(g *gradients, p power, u []float32) []float64 {
	dst, rest := make([]float64, g.dim), p(floor)
	for j, v := range u {
		dst[j] = rest * float64(v)
	}
	for i, value := range g.values {
		v, along := g.vectors[i*g.dim:(i+1)*g.dim], 0.0
		for j, c := range v {
			along += c * float64(u[j])
		}
		for j, c := range v {
			dst[j] += (p(value+floor) - rest) * along * c
		}
	}
	return dst
}

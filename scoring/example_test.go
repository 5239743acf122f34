package scoring_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/eerf-stream/eerf/scoring"
)

// Labels are the sign of a wave along the first of five coordinates. Two partitions are scored on their own, their sums
// merged, and the best 3 of 200 candidates kept.
func Example() {
	candidates := scoring.Candidates{
		Map: scoring.MapCosine, Distribution: scoring.Gaussian, Sigma: 1, Seed: 1, Dim: 5, Count: 200,
	}
	if err := candidates.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	bank := scoring.NewBank(candidates, scoring.BankOptions{})
	total := scoring.NewSums(candidates.Count, 1)
	for partition := range uint64(2) {
		rng := rand.New(rand.NewPCG(1, partition))
		sums := scoring.NewAccumulator(bank, scoring.NewSums(candidates.Count, 1))
		x, y := make([]float32, 5), make([]float32, 1)
		for range 2000 {
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			y[0] = float32(math.Copysign(1, math.Sin(2*float64(x[0]))))
			sums.Add(x, 1, scoring.Targets{Outputs: 1, Values: y})
		}
		total.Merge(sums.Sums())
	}
	selection, err := scoring.Select(total, scoring.Binary, scoring.Correlation, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d rows, %d of 3 features above the noise\n", total.Rows, selection.AboveNoise)

	transformer := scoring.NewTransformer(scoring.NewFeatureSet(candidates, selection), nil)
	features := make([]float32, transformer.Len())
	transformer.Transform(features, []float32{0.5, 0, 0, 0, 0}, 1)
	fmt.Printf("%d features of one row\n", len(features))
	// Output:
	// 4000 rows, 3 of 3 features above the noise
	// 3 features of one row
}

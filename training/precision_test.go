package training

import (
	"math"
	"math/rand/v2"
	"testing"
)

// smoothTable draws cosine features of a wide Gaussian kernel, whose second moments have
// eigenvalues down to rounding, and one label that is a smooth function plus noise.
func smoothTable(rows, features int, noise float64) table {
	const dimension, inverseWidth = 3, 0.3
	r := rand.New(rand.NewPCG(1, 2))
	frequency, phase := make([]float64, features*dimension), make([]float64, features)
	for i := range frequency {
		frequency[i] = r.NormFloat64() * inverseWidth
	}
	for i := range phase {
		phase[i] = r.Float64() * 2 * math.Pi
	}
	d := table{rows: rows, features: features, outputs: 1}
	for range rows {
		x := [dimension]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		for m, turn := range phase {
			for j, v := range x {
				turn += frequency[m*dimension+j] * v
			}
			d.z = append(d.z, float32(math.Cos(turn)/math.Sqrt(float64(features))))
		}
		d.y = append(d.y, float32(math.Sin(x[0])+0.3*x[0]*x[1]+noise*r.NormFloat64()))
	}
	return d
}

// The cost of rounding the sums, on features where it matters most: the loss on rows not trained
// on, compared with the best that any λ of the grid reaches if solved from the rows in float64.
func TestRoundingOfTheSumsCostsLittle(t *testing.T) {
	for _, c := range []struct{ noise, factor float64 }{
		{0.1, 1.002}, // 13 % of the spread of the label
		{0.01, 1.3},
		{0, 6}, // only rounding is between the model and the label
	} {
		d := smoothTable(2500, 100, c.noise)
		fit, held, test := d.part(0, 1500), d.part(1500, 2000), d.part(2000, 2500)
		f, err := Train(fit.sums(), held.sums(), usual)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSystem(fit.sums().gram.Settled(), true)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for _, level := range append(RelativeGrid().below(), RelativeGrid().levels()...) {
			theta, theta0 := naiveRidge(t, fit, level*s.scale, true)
			m := &Model{Features: d.features, Outputs: 1, Theta: theta, Intercept: theta0}
			best = min(best, rowLoss(m, test)[0])
		}
		got, variance := rowLoss(f.OnFit, test)[0], variances(t, test)[0]
		t.Logf("noise %g: loss %.4g, at best %.4g, of variance %.3g; level %g, lambda %.3g",
			c.noise, got, best, variance, f.Level, f.OnFit.Lambda)
		if !(got <= c.factor*best) {
			t.Errorf("noise %g: loss %g, at best %g", c.noise, got, best)
		}
	}
}

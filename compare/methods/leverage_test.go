package methods

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/scoring"
)

// referenceLeverage is the diagonal of G(G+λI)⁻¹ with a dense inverse.
func referenceLeverage(t *testing.T, c scoring.Candidates, x []float32, rows int, penalty float64) []float64 {
	t.Helper()
	f, m := c.DrawAll(), c.Count
	phi := mat.NewDense(rows, m, nil)
	for r := range rows {
		for i := range m {
			phi.Set(r, i, referencePhi(f, i, x[r*c.Dim:(r+1)*c.Dim]))
		}
	}
	var gram, ridged, inverse, product mat.Dense
	gram.Mul(phi.T(), phi)
	gram.Scale(1/float64(rows), &gram)
	ridged.CloneFrom(&gram)
	lambda := penalty * mat.Trace(&gram)
	for i := range m {
		ridged.Set(i, i, ridged.At(i, i)+lambda)
	}
	if err := inverse.Inverse(&ridged); err != nil {
		t.Fatal(err)
	}
	product.Mul(&gram, &inverse)
	scores := make([]float64, m)
	for i := range scores {
		scores[i] = product.At(i, i)
	}
	return scores
}

func TestLeverageScoresEqualTheDefinition(t *testing.T) {
	for _, m := range []scoring.Map{scoring.MapCosine, scoring.MapArcCosine0, scoring.MapArcCosine1} {
		// Fewer candidates than rows, as many, and more; more than a chunk of either.
		for _, size := range [][2]int{{40, 90}, {60, 60}, {90, 40}, {1, 9}, {9, 1}, {300, 20}, {20, 300}} {
			c := scoring.Candidates{Map: m, Sigma: 1.5, Seed: 2, Dim: 4, Count: size[0]}
			x := normalRows(3, size[1], c.Dim)
			for _, penalty := range []float64{1, 1e-2, 1e-4} {
				got, used, err := LeverageScores(c, x, size[1], penalty)
				if err != nil || used != size[1] {
					t.Fatalf("%d rows used: %v", used, err)
				}
				for i, want := range referenceLeverage(t, c, x, size[1], penalty) {
					near(t, fmt.Sprintf("%v, %v, penalty %g: score %d", m, size, penalty, i), got[i], want, 2e-4*math.Sqrt(want)+1e-6)
				}
			}
		}
	}
}

func TestLeverageScoresHaveOneValueInBothForms(t *testing.T) {
	c := scoring.Candidates{Sigma: 1.5, Seed: 2, Dim: 4, Count: 50}
	l := &leverage{features: c.DrawAll(), x: normalRows(3, 50, c.Dim), rows: 50, penalty: 1e-3}
	primal, err := l.primal()
	if err != nil {
		t.Fatal(err)
	}
	dual, err := l.dual()
	if err != nil {
		t.Fatal(err)
	}
	for i := range primal {
		near(t, fmt.Sprint("score ", i), dual[i], primal[i], 1e-4)
	}
}

func TestLeverageScoresOfManyRowsTakeSome(t *testing.T) {
	c := scoring.Candidates{Sigma: 1.5, Seed: 2, Dim: 2, Count: 30}
	x := normalRows(3, 100, c.Dim)
	got, used, err := leverageScores(c, x, 100, 1e-2, 25)
	if err != nil || used != 25 {
		t.Fatalf("%d rows used: %v", used, err)
	}
	var some []float32
	for r := 0; r < 100; r += 4 {
		some = append(some, x[r*2:r*2+2]...)
	}
	want, _, err := LeverageScores(c, some, 25, 1e-2)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("scores are not those of every fourth row: %v", err)
	}
	// If one of the two sizes is within the bound, all rows are used.
	if _, used, _ = leverageScores(c, x, 100, 1e-2, 30); used != 100 {
		t.Errorf("%d rows used", used)
	}
}

func TestLeverageScoresDoNotDependOnGoroutines(t *testing.T) {
	c := scoring.Candidates{Sigma: 1.5, Seed: 2, Dim: 4, Count: 700}
	x := normalRows(3, 30, c.Dim)
	a, _, _ := LeverageScores(c, x, 30, 1e-2)
	b, _, _ := LeverageScores(c, x, 30, 1e-2)
	if !slices.Equal(a, b) {
		t.Error("scores differ")
	}
}

// TestUnusualCandidatesHaveGreatLeverage: repeated coordinates of the linear map share the leverage of a single one.
func TestUnusualCandidatesHaveGreatLeverage(t *testing.T) {
	c := scoring.Candidates{Map: scoring.MapLinear, Distribution: scoring.Uniform, Sigma: 1, Dim: 4, Count: 4}
	x := normalRows(3, 40, 4)
	for r := range 40 {
		x[r*4+1], x[r*4+2] = x[r*4], x[r*4]
	}
	scores, _, err := LeverageScores(c, x, 40, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	top := TopByLeverage(scores, 1)
	if f := c.Draw(top.Index); f.Omega[0] != 3 || top.Score[0] < 0.99 {
		t.Errorf("coordinate %v leads with %v", f.Omega[0], top.Score[0])
	}
	for k, i := range SampleByLeverage(scores, 4, 1).Index {
		if i < 0 || scores[i] != SampleByLeverage(scores, 4, 1).Score[k] {
			t.Error("scores do not go with their candidates")
		}
	}
	if err := SampleByLeverage(scores, 2, 1).FeatureSet(c).Validate(); err != nil {
		t.Error(err)
	}
}

func TestLeverageOfNothingIsRefused(t *testing.T) {
	ramp := scoring.Candidates{Map: scoring.MapArcCosine1, Sigma: 1, Dim: 2, Count: 5}
	for want, test := range map[string]struct {
		rows    int
		penalty float64
	}{"no rows": {0, 1}, "features are 0": {3, 1}, "penalty is 0": {3, 0}, "penalty is NaN": {3, math.NaN()}} {
		_, _, err := LeverageScores(ramp, make([]float32, test.rows*2), test.rows, test.penalty)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	panics(t, "methods: 3 of 2 candidates", func() { TopByLeverage(make([]float64, 2), 3) })
}

package methods

import (
	"fmt"
	"math"
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
		// Fewer candidates than rows, as many, and more.
		for _, size := range [][2]int{{40, 90}, {60, 60}, {90, 40}, {1, 9}, {9, 1}} {
			c := scoring.Candidates{Map: m, Sigma: 1.5, Seed: 2, Dim: 4, Count: size[0]}
			x := normalRows(3, size[1], c.Dim)
			for _, penalty := range []float64{1, 1e-2, 1e-4} {
				got, err := leverageScores(c, x, size[1], penalty)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range referenceLeverage(t, c, x, size[1], penalty) {
					near(t, fmt.Sprintf("%v, %v, penalty %g: score %d", m, size, penalty, i), got[i], want, 2e-4*math.Sqrt(want)+1e-6)
				}
			}
		}
	}
}

// TestUnusualCandidatesHaveGreatLeverage checks that repeated coordinates of the linear map share
// the leverage of a single one.
func TestUnusualCandidatesHaveGreatLeverage(t *testing.T) {
	c := scoring.Candidates{Map: scoring.MapLinear, Sigma: 1, Dim: 4, Count: 4}
	x := normalRows(3, 40, 4)
	for r := range 40 {
		x[r*4+1], x[r*4+2] = x[r*4], x[r*4]
	}
	scores, err := leverageScores(c, x, 40, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	if top := scoring.Rank(scores)[0]; c.Draw([]int32{top}).Omega[0] != 3 || scores[top] < 0.99 {
		t.Errorf("scores %v", scores)
	}
}

func TestLeverageOfZeroFeaturesIsRefused(t *testing.T) {
	ramp := scoring.Candidates{Map: scoring.MapArcCosine1, Sigma: 1, Dim: 2, Count: 5}
	if _, err := leverageScores(ramp, make([]float32, 6), 3, 1); err == nil ||
		!strings.Contains(err.Error(), "features are 0") {
		t.Error(err)
	}
}

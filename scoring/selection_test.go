package scoring

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSelectKeepsTheBestWithTheirScores(t *testing.T) {
	f := drawFeatures(MapCosine, 4, 50)
	x := normalRows(1, datasetRows, 4)
	for _, d := range datasets() {
		for _, criterion := range []Criterion{Energy, Correlation} {
			s := scoreRows(f, x, datasetRows, d.targets)
			sel, err := Select(s, d.task, criterion, 12)
			if err != nil {
				t.Fatal(err)
			}
			values, scores := CriterionValues(s, d.task, criterion), s.Scores(s.Coding(d.task))
			outputs := d.targets.Outputs
			for k, i := range sel.Index {
				if sel.Score[k] != values[i] ||
					!slices.Equal(sel.S[k*outputs:(k+1)*outputs], scores[int(i)*outputs:int(i+1)*outputs]) {
					t.Errorf("%s: feature %d does not have the scores of candidate %d", d.name, k, i)
				}
				values[i] = -1
			}
			if rest := slices.Max(values); rest > sel.Score[11] {
				t.Errorf("%s: a candidate of value %v is left out below the cutoff %v", d.name, rest, sel.Score[11])
			}
			if !slices.IsSortedFunc(sel.Score, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
				t.Errorf("%s: scores %v", d.name, sel.Score)
			}
			near(t, "radius", sel.Radius, math.Sqrt(2*math.Log(2*50*float64(outputs)/0.05)/datasetRows), 1e-12)
		}
	}
}

func TestSelectRefusesUnusableSums(t *testing.T) {
	constant := scoreRows(drawFeatures(MapCosine, 1, 3), normalRows(1, 5, 1), 5, Targets{
		Outputs: 1,
		Values:  []float32{1, 1, 1, 1, 1},
	})
	oneClass := scoreRows(drawFeatures(MapCosine, 1, 3), normalRows(1, 2, 1), 2, Targets{Outputs: 3, Class: []int32{2, 2}})
	damaged := someSums(1, 5)
	damaged.Phi[0] = math.NaN()
	for name, test := range map[string]struct {
		s    *Sums
		task Task
		m    int
		is   error
		text string
	}{
		"no rows":          {NewSums(3, 1), Regression, 1, ErrNoRows, "no rows"},
		"constant":         {constant, Regression, 1, ErrConstantLabels, "labels are constant over the rows scored (5 rows)"},
		"constant, binary": {constant, Binary, 1, ErrConstantLabels, "labels are constant over the rows scored (5 rows)"},
		"one class":        {oneClass, MultiClass, 1, ErrConstantLabels, "constant"},
		"more than M0":     {someSums(1, 5), Regression, 12, nil, "12 asked of 11"},
		"none":             {someSums(1, 5), Regression, 0, nil, "0 asked of 11"},
		"damaged":          {damaged, Regression, 1, nil, "phi[0] is NaN"},
		"unknown task":     {someSums(1, 5), Task(9), 1, nil, "unknown task"},
	} {
		_, err := Select(test.s, test.task, Energy, test.m)
		if err == nil || !strings.Contains(err.Error(), test.text) || (test.is != nil && !errors.Is(err, test.is)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := Select(someSums(1, 5), Regression, Criterion(9), 1); err == nil {
		t.Error("an unknown criterion selects")
	}
}

func TestAboveNoiseCountsFeaturesThatStandOut(t *testing.T) {
	// Coordinates 0 and 1 carry the label, the other 18 are noise.
	const rows, dim = 4000, 20
	c := Candidates{Map: MapLinear, Sigma: 1, Dim: dim, Count: dim}
	f := c.DrawAll()
	x, e := normalRows(1, rows, dim), normalRows(2, rows, 1)
	y := make([]float32, rows)
	for i := range y {
		y[i] = x[i*dim] - 0.8*x[i*dim+1] + 0.3*e[i]
	}
	s := scoreRows(f, x, rows, Targets{Outputs: 1, Values: y})
	sel, err := Select(s, Regression, Correlation, dim)
	if err != nil || sel.AboveNoise != 2 {
		t.Fatalf("%d features above the noise, want 2: %v", sel.AboveNoise, err)
	}
	if f.Omega[sel.Index[0]] != 0 || f.Omega[sel.Index[1]] != 1 {
		t.Errorf("best coordinates are %v and %v, want 0 and 1", f.Omega[sel.Index[0]], f.Omega[sel.Index[1]])
	}
	sel, err = Select(s, Regression, Energy, dim)
	above := 0
	for _, v := range sel.S {
		if math.Abs(v) > sel.Radius {
			above++
		}
	}
	if err != nil || sel.AboveNoise != above || above < 1 {
		t.Errorf("%d features above the noise, want %d: %v", sel.AboveNoise, above, err)
	}
}

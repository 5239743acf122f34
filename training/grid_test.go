package training

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

func TestGridText(t *testing.T) {
	for text, want := range map[string]string{
		"": "relative", "relative": "relative", " paper ": "paper", "1e-3, 0.1,1e-3,5": "0.001,0.1,5", "0": "0",
	} {
		g, err := ParseGrid(text)
		if err != nil || g.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, g, err, want)
		}
		var back Options
		encoded, err := json.Marshal(Options{Grid: g})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &back); err != nil || back.Grid.String() != want {
			t.Errorf("%q through %s: %v, %v", text, encoded, back.Grid, err)
		}
	}
	for _, text := range []string{"papers", "1,,2", "1;2", "-1", "NaN", "+Inf", ","} {
		if g, err := ParseGrid(text); err == nil {
			t.Errorf("%q: read as %v", text, g)
		}
		if err := new(Grid).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: unmarshalled", text)
		}
	}
}

func TestWalkExtendsTheGridWhileTheLowestLevelIsBest(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		what   string
		loss   func(level float64) float64
		tried  int
		best   float64
		atEdge bool
		found  bool
	}{
		{"rising", func(l float64) float64 { return l }, 13, 1e-10, true, true},
		{"falling", func(l float64) float64 { return -l }, 11, 1e2, true, true},
		{
			"lowest inside the extension",
			func(l float64) float64 { return math.Abs(math.Log10(l) + 9) },
			13, 1e-9, false, true,
		},
		{"lowest at the regular edge", func(l float64) float64 { return math.Abs(math.Log10(l) + 8) }, 12, 1e-8, false, true},
		{"inside", func(l float64) float64 { return math.Abs(math.Log10(l)) }, 11, 1, false, true},
		{"equal", func(float64) float64 { return 1 }, 11, 1e2, false, true},
		{"unusable below 1", func(l float64) float64 {
			if l < 1 {
				return inf
			}
			return -l
		}, 3, 1e2, true, true},
		{"NaN above 1", func(l float64) float64 {
			if l > 1 {
				return nan
			}
			return 1 / l
		}, 9, 1, true, true},
		{"nothing usable", func(float64) float64 { return nan }, 1, 1e2, false, false},
	} {
		w, found, _ := walk(RelativeGrid(), each(c.loss))
		if len(w.levels) != c.tried || w.levels[w.best] != c.best || found != c.found || w.atEdge() != c.atEdge {
			t.Errorf("%s: %+v, found %v, at edge %v", c.what, w, found, w.atEdge())
		}
		if !slices.IsSorted(w.levels) {
			t.Errorf("%s: levels %v", c.what, w.levels)
		}
	}
}

// each judges levels one by one.
func each(loss func(level float64) float64) func(levels []float64) ([]float64, error) {
	return func(levels []float64) ([]float64, error) {
		losses := make([]float64, len(levels))
		for i, level := range levels {
			losses[i] = loss(level)
		}
		return losses, nil
	}
}

package state

import (
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

func TestChurn(t *testing.T) {
	set := func(change func(*wire.FeatureSet), index ...int32) *wire.FeatureSet {
		f := &wire.FeatureSet{
			Encoder:    &encoder.Encoder{Columns: []encoder.Column{{Name: "a", Kind: encoder.Numeric, Width: 1}}},
			Candidates: scoring.Candidates{Sigma: 2, Seed: 1, Dim: 1, Count: 100},
			Set:        scoring.FeatureSet{Index: index},
		}
		if change != nil {
			change(f)
		}
		return f
	}
	before := set(nil, 3, 1, 4, 5)
	for name, c := range map[string]struct {
		set  *wire.FeatureSet
		want float64
	}{
		"the same":                          {set(nil, 5, 4, 3, 1), 0},
		"one of four is new":                {set(nil, 3, 1, 4, 2), 0.25},
		"fewer, all known":                  {set(nil, 3), 0},
		"more of them":                      {set(nil, 3, 1, 4, 5, 6, 7, 8, 9), 0.5},
		"another bandwidth, more to choose": {set(func(f *wire.FeatureSet) { f.Candidates.Sigma, f.Candidates.Count = 3, 200 }, 3, 1, 4, 150), 0.25},
		"another seed":                      {set(func(f *wire.FeatureSet) { f.Candidates.Seed = 2 }, 3, 1, 4, 5), 1},
		"another column":                    {set(func(f *wire.FeatureSet) { f.Encoder.Columns[0].Name = "b" }, 3, 1, 4, 5), 1},
	} {
		if have := Churn(c.set, before); have != c.want {
			t.Errorf("%s: %v, want %v", name, have, c.want)
		}
	}
}

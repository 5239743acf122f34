package main

import (
	"fmt"
	"io"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/scoring"
)

// featuresShown is the number of features listed by score.
const featuresShown = 20

// featureInWords describes a feature for a person.
type featureInWords struct {
	// Feature is its number in the set.
	Feature int     `json:"feature"`
	Kind    string  `json:"kind"`
	Of      string  `json:"of"`
	Score   float64 `json:"score"`
}

// featuresInWords lists the features by descending score.
func featuresInWords(set *wire.FeatureSet) []featureInWords {
	list := make([]featureInWords, 0, set.Set.Features.Len())
	for _, i := range scoring.Rank(set.Set.Score) {
		kind := set.Set.Features.Map.String()
		if set.Set.Features.Map == scoring.MapCosine {
			kind = set.Set.Features.Kind(int(i)).String()
		}
		list = append(list, featureInWords{Feature: int(i), Kind: kind, Of: set.Words(int(i)), Score: set.Set.Score[i]})
	}
	return list
}

func printFeatures(w io.Writer, features []featureInWords) {
	t := cli.NewTable(w, "features by score", "feature", "kind", "of", "score")
	for _, f := range features[:min(featuresShown, len(features))] {
		t.AppendRow([]any{f.Feature, f.Kind, f.Of, fmt.Sprintf("%.4g", f.Score)})
	}
	t.Render()
	if more := len(features) - featuresShown; more > 0 {
		fmt.Fprintf(w, "and %d more features; use --json for all\n", more)
	}
}

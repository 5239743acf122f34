package compare

import (
	"context"
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

// tunedScales are the factors of the bandwidth that plain-tuned tries.
var tunedScales = []float64{0.5, 1, 2, 4, 8}

var plainTunedMethod = &Method{
	Name: "plain-tuned", Title: "plain random features, bandwidth tuned",
	Source:  "Rahimi and Recht, NIPS 2007",
	Summary: "Plain features with σ scaled by ½, 1, 2, 4 or 8: the scale with the lowest loss on held-out training rows.",
	Refuses: func(o Options) string {
		if !o.Map.HasBandwidth() {
			return fmt.Sprintf("the bandwidth only scales the features of the %v map, which the model undoes", o.Map)
		}
		return ""
	},
	Select: selectTuned,
}

func selectTuned(ctx context.Context, t *Trial) (*Selected, error) {
	var best *Selected
	least := math.Inf(1)
	for _, scale := range tunedScales {
		c := t.Candidates()
		c.Sigma *= scale
		set := firstCandidates(c, t.M)
		loss, err := t.HeldOutLoss(ctx, set)
		if err != nil {
			return nil, fmt.Errorf("bandwidth %.4g: %w", c.Sigma, err)
		}
		if best == nil || loss < least {
			least, best = loss, &Selected{Set: set, Note: fmt.Sprintf("σ × %g", scale)}
		}
	}
	return best, nil
}

var linearMethod = &Method{
	Name: "linear", Title: "the encoded columns themselves", AnySize: true, Unclipped: true,
	Summary: "No random features: a linear model on the d encoded columns, without --clip, independent of M.",
	Select: func(_ context.Context, t *Trial) (*Selected, error) {
		dim := t.Candidates().Dim
		columns := scoring.Candidates{
			Map: scoring.MapLinear, Sigma: 1, Seed: t.Seed, Dim: dim, Count: dim,
		}
		return only(firstCandidates(columns, dim)), nil
	},
}

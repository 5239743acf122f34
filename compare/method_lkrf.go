package compare

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/compare/methods"
	"github.com/eerf-stream/eerf/scoring"
)

var lkrfMethod = &Method{
	Name: "lkrf", Title: "learned kernels (LKRF)", Pool: true,
	Source: "Sinha and Duchi, NIPS 2016",
	Summary: "M draws from the probabilities of candidates that maximise the mean energy within a χ² distance ρ of the uniform " +
		"ones, or all of them, weighted, where at most M are positive; ρ of 1e-5, 1e-4, ..., 1e5 by the loss on held-out training rows.",
	Select: func(ctx context.Context, t *Trial) (*Selected, error) {
		var best Choice
		least := math.Inf(1)
		for _, choice := range learnedKernels(t) {
			loss, err := t.HeldOutLoss(ctx, choice.Set)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", choice.Note, err)
			}
			if best.Set == nil || loss < least {
				least, best = loss, choice
			}
		}
		return &Selected{Choices: []Choice{best}}, nil
	},
}

var lkrfBestMethod = &Method{
	Name: "lkrf-best", Title: "learned kernels (LKRF), ρ in hindsight", Pool: true, Hindsight: true,
	Source: "Sinha and Duchi, NIPS 2016, as Shahrampour, Beirami, Tarokh, AAAI 2018, report it",
	Summary: "As lkrf, with the ρ that has the smallest error on the test rows: too good to be true, for comparison with papers that " +
		"report it, and never counted as the best.",
	Select: func(_ context.Context, t *Trial) (*Selected, error) {
		return &Selected{Choices: learnedKernels(t)}, nil
	},
}

// learnedKernels returns the sets for all ρ; equal sets appear once, under the least ρ.
func learnedKernels(t *Trial) []Choice {
	sums := t.Sums()
	return shared(t, fmt.Sprintf("learned kernels of %d", t.M), func() []Choice {
		energy := scoring.CriterionValues(sums, t.Task, scoring.Energy)
		var all []Choice
		var last methods.Weighting
		for _, rho := range methods.KernelRadii() {
			w := methods.LearnKernel(energy, methods.KernelWeights(energy, rho), t.M, t.Seed)
			if len(all) > 0 && slices.Equal(w.Index, last.Index) && slices.Equal(w.Weight, last.Weight) && w.Scale == last.Scale {
				continue
			}
			last = w
			all = append(all, Choice{Set: w.FeatureSet(t.Candidates()), Note: fmt.Sprintf("ρ = %g", rho)})
		}
		return all
	})
}

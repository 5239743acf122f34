package compare

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/compare/methods"
)

var leverageMethod = &Method{
	Name: "leverage", Title: "empirical leverage scores", Pool: true,
	Source: "Shahrampour and Kolouri, arXiv:1903.08329",
	Summary: "M candidates drawn, without repeats, in proportion to their ridge leverage scores on the sample; labels are not " +
		"looked at.",
	Select: byLeverage(func(t *Trial, scores []float64) methods.Weighting {
		return methods.SampleByLeverage(scores, t.M, t.Seed)
	}),
}

var leverageTopMethod = &Method{
	Name: "leverage-top", Title: "greatest empirical leverage scores", Pool: true,
	Source:  "after Shahrampour and Kolouri, arXiv:1903.08329",
	Summary: "As leverage, but the M candidates with the greatest scores.",
	Select: byLeverage(func(t *Trial, scores []float64) methods.Weighting {
		return methods.TopByLeverage(scores, t.M)
	}),
}

// byLeverage selects by the scores of the pool, computed once per repeat.
func byLeverage(choose func(*Trial, []float64) methods.Weighting) func(context.Context, *Trial) (*Selected, error) {
	return func(_ context.Context, t *Trial) (*Selected, error) {
		l := t.leverage()
		if l.err != nil {
			return nil, l.err
		}
		selected := only(choose(t, l.scores).FeatureSet(t.Candidates()))
		if _, rows, _ := t.Sample(); l.used < rows {
			selected.Choices[0].Note = fmt.Sprintf("scores from %d of the %d sampled rows", l.used, rows)
		}
		return selected, nil
	}
}

// leverage holds the scores of a pool's candidates.
type leverage struct {
	scores []float64
	used   int
	err    error
}

// leverage returns the scores of the pool.
func (t *Trial) leverage() leverage {
	return shared(t, "leverage", func() (l leverage) {
		x, rows, _ := t.Sample()
		l.scores, l.used, l.err = methods.LeverageScores(t.Candidates(), x, rows, methods.DefaultLeveragePenalty(rows))
		return l
	})
}

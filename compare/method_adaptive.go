package compare

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

var adaptiveMethod = &Method{
	Name: "adaptive", Title: "learned frequencies, without refinement",
	Source: "this project, after Radhakrishnan, Beaglehole, Pandit, Belkin, Science 2024",
	Summary: "In rounds, residual's choice among candidates drawn where the previous round's model varies most. The round with the lowest " +
		"loss on a held-out fifth of the sample wins, or residual if that is better.",
	Refuses: refusesToLearn,
	Select:  byLearning(0),
}

var refinedMethod = &Method{
	Name: "adaptive-refined", Title: "learned frequencies",
	Source: "this project, after Radhakrishnan, Beaglehole, Pandit, Belkin, Science 2024, and Golub and Pereyra, 1973",
	Summary: "As adaptive; then gradient steps move the chosen frequencies to reduce the loss on the sample, before and after one more " +
		"round. The step with the lowest loss on a held-out fifth of the sample wins.",
	Refuses: refusesToLearn,
	Select:  byLearning(adaptive.DefaultRefineSteps),
}

// refusesToLearn says why frequencies cannot be learned from the candidates of the options.
func refusesToLearn(o Options) string {
	if err := scoring.Adaptive.Check(o.describe(2, 1, 0)); err != nil {
		return err.Error()
	}
	return ""
}

// byLearning learns features with this number of refinement steps.
func byLearning(steps int) func(context.Context, *Trial) (*Selected, error) {
	return func(_ context.Context, t *Trial) (*Selected, error) {
		l := t.lesson()
		learned, err := adaptive.Learn(l.candidates, l.sums, l.sample, t.Task, adaptive.Options{
			Features: t.M, RefineSteps: steps, RefineRounds: adaptive.DefaultRefineRounds,
		})
		if err != nil {
			return nil, err
		}
		selected := only(learned.FeatureSet())
		selected.Note = pointNote(learned.Report.Best())
		return selected, nil
	}
}

// pointNote says which point won, briefly enough for repeats to agree on it.
func pointNote(p adaptive.Point) string {
	switch p.Kind {
	case adaptive.ByResidual:
		return "residual's choice won"
	case adaptive.ByRound:
		return fmt.Sprintf("round %d won", p.Round)
	case adaptive.ByStep:
		return fmt.Sprintf("round %d, refined, won", p.Round)
	}
	panic(fmt.Sprintf("compare: a point of kind %q", p.Kind))
}

// lesson is what frequencies are learned from, whatever M.
type lesson struct {
	candidates scoring.Candidates // of the first round
	sample     *scoring.Sample    // including the rows held out of it
	sums       *scoring.Sums      // over the others
}

// lesson returns the one of the repeat.
func (t *Trial) lesson() lesson {
	return Shared(t, "lesson", func() lesson {
		r := t.repeat
		x, n, y := t.Sample()
		sample := &scoring.Sample{X: x, Rows: n, Dim: r.train.dim, Targets: y, HeldOut: make([]bool, n)}
		learned := make([]int32, 0, n)
		for i, row := range r.pool.list {
			sample.HeldOut[i] = scoring.HeldOut(scoring.Hash(t.Seed, 0, int64(row)))
			if !sample.HeldOut[i] {
				learned = append(learned, int32(i))
			}
		}
		from := &pool{candidates: adaptive.FirstRound(t.Candidates()), sample: r.pool.sample.sample(learned)}
		sums := from.score(scoring.NewBank(from.candidates, scoring.BankOptions{}))
		return lesson{candidates: from.candidates, sample: sample, sums: sums}
	})
}

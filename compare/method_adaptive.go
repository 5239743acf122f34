package compare

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

const learningSource = "this project, after Radhakrishnan, Beaglehole, Pandit, Belkin, Science 2024"

var adaptiveMethod = &Method{
	Name: "adaptive", Title: "learned features, without refinement",
	Source: learningSource,
	Summary: "In rounds, residual's choice among cosines, ramps, hinges and boxes, drawn where the previous " +
		"round's model varies most. The round with the lowest loss on a held-out fifth of the sample wins, " +
		"with fewer of its features if these are clearly better.",
	Refuses: refusesToLearn,
	Select:  byLearning(adaptive.Options{}),
}

var cosineMethod = &Method{
	Name: "adaptive-cosine", Title: "learned frequencies",
	Source:  learningSource + ", and Golub and Pereyra, 1973",
	Summary: "As adaptive-refined, without thresholds: all features are cosines.",
	Refuses: refusesToLearn,
	Select: byLearning(adaptive.Options{
		RefineSteps:  adaptive.DefaultRefineSteps,
		RefineRounds: adaptive.DefaultRefineRounds,
		CosinesOnly:  true,
	}),
}

var refinedMethod = &Method{
	Name: "adaptive-refined", Title: "learned features",
	Source: learningSource + ", and Golub and Pereyra, 1973",
	Summary: "As adaptive; then gradient steps move the chosen features to reduce the loss on the sample, before " +
		"and after one more round. The step with the lowest loss on a held-out fifth of the sample wins. Several " +
		"such sets are learned, each of a share of the features; the model is the mean of a model on each.",
	Refuses: refusesToLearn,
	Select: byMembers(adaptive.Options{
		RefineSteps:  adaptive.DefaultRefineSteps,
		RefineRounds: adaptive.DefaultRefineRounds,
	}),
}

// refusesToLearn returns the reason why features cannot be learned from the candidates of the
// options, "" if they can.
func refusesToLearn(o Options) string {
	if err := scoring.Adaptive.Check(o.describe(2, 1, 0)); err != nil {
		return err.Error()
	}
	return ""
}

// byMembers makes features as the stream does.
func byMembers(o adaptive.Options) func(context.Context, *Trial) (*Selected, error) {
	return func(ctx context.Context, t *Trial) (*Selected, error) {
		o := o
		if o.Members = t.repeat.options.Members; o.Members == 0 {
			o.Members = adaptive.DefaultMembers(t.M)
		}
		return byLearning(o)(ctx, t)
	}
}

// byLearning learns features from the lesson of a trial.
func byLearning(o adaptive.Options) func(context.Context, *Trial) (*Selected, error) {
	return func(ctx context.Context, t *Trial) (*Selected, error) {
		l := t.lesson(!o.ChooseOnly)
		o := o
		o.Features, o.Columns = t.M, t.repeat.columns
		o.Stop = ctx.Err
		learned, err := adaptive.Learn(l.candidates, l.sums, l.sample, t.Task, o)
		if err != nil {
			return nil, err
		}
		selected := only(learned.FeatureSet())
		selected.Note = pointNote(learned)
		return selected, nil
	}
}

// pointNote names the winning point, briefly enough for repeats to agree.
func pointNote(l *adaptive.Learned) string {
	p := l.Report.Best()
	switch p.Kind {
	case adaptive.ByResidual:
		return ""
	case adaptive.ByRound:
		return fmt.Sprintf("round %d won", p.Round)
	case adaptive.ByMean:
		return "the mean of several members"
	case adaptive.ByStep:
		return fmt.Sprintf("round %d, refined, won", p.Round)
	}
	panic(fmt.Sprintf("compare: unknown kind of point %q", p.Kind))
}

// lesson is the input of learning, which does not depend on M.
type lesson struct {
	candidates scoring.Candidates // candidates of the first round
	sample     *scoring.Sample    // all sampled rows
	sums       *scoring.Sums      // sums over the rows that are not held out
}

// lesson returns the input of learning in this repeat, with the first candidates of learned
// features, or with those of the pool. The held-out rows of the sample are those on which λ is
// chosen.
func (t *Trial) lesson(learns bool) lesson {
	return Shared(t, fmt.Sprint("lesson", learns), func() lesson {
		r := t.repeat
		list := firstByHash(r.seed, r.train.rows, r.options.sampleSize(r.train.rows), nil)
		rows, learned := r.train.sample(list), make([]int32, 0, len(list))
		sample := &scoring.Sample{
			X:          rows.x,
			Rows:       rows.rows,
			Dim:        rows.dim,
			Targets:    rows.targets,
			HeldOut:    make([]bool, rows.rows),
			Identities: make([]uint64, rows.rows),
		}
		for i, row := range list {
			sample.HeldOut[i] = r.heldOut[row]
			sample.Identities[i] = r.identities[row]
			if !r.heldOut[row] {
				learned = append(learned, int32(i))
			}
		}
		from := &pool{candidates: t.Candidates(), sample: rows.sample(learned)}
		if learns {
			from.candidates = adaptive.FirstRound(from.candidates)
		}
		sums := from.score(scoring.NewBank(from.candidates))
		return lesson{candidates: from.candidates, sample: sample, sums: sums}
	})
}

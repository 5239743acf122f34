package config

import (
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

func (k *checker) exploration() {
	c := k.config.Stages.Exploration
	// Dimension and bandwidth are known only after calibration; all other parts of the description
	// are checked here with one candidate of one dimension, which is always possible.
	k.adopt("exploration", scoring.Candidates{
		Map: c.Map, Distribution: c.Distribution, Sigma: 1, Seed: c.Seed, Dim: 1, Count: 1,
	}.Validate())
	k.adopt("exploration", c.CheckCandidates())

	k.rule(c.Features <= c.CandidateCount(), "exploration.features",
		fmt.Sprintf("want at most exploration.candidates (%d): features are chosen from the candidates", c.CandidateCount()),
		"exploration.candidates")

	k.rule(c.ActiveMembers() <= c.Features, "exploration.members",
		fmt.Sprintf("want at most exploration.features (%d): each member has at least one", c.Features),
		"exploration.features")

	var froms []string
	for _, from := range wire.Froms() {
		froms = append(froms, string(from))
	}
	k.oneOf(string(c.From), "exploration.from", froms...)
	k.oneOf(string(c.Kernel), "exploration.kernel", string(calibrate.KernelAuto), string(calibrate.KernelPlain))
	k.rule(0 <= c.SampleRate && c.SampleRate <= 1, "exploration.sample_rate", "want auto, or above 0 and at most 1")
	k.rule(c.From != wire.FromRecent || c.MinRows <= c.Window, "exploration.min_rows",
		fmt.Sprintf("want at most exploration.window (%d): the window bounds the rows that are read",
			c.Window), "exploration.window")
}

func (k *checker) train() {
	c := k.config.Stages.Train
	k.rule(0 < c.HeldOutFraction && c.HeldOutFraction < 1, "train.held_out_fraction",
		"want above 0 and below 1: lambda is chosen on the held-out rows and the weights are fitted on the others")
	if _, err := training.ParseGrid(c.LambdaGrid); err != nil {
		k.rule(false, "train.lambda_grid", "want relative, paper, or finite numbers >= 0 separated by commas")
	}
	k.oneOf(c.Loss, "train.loss", training.Losses()...)
	k.oneOf(c.Measure, "train.measure", training.Judging()...)
	k.rule(c.Window == 0 || c.Window >= c.MinRows, "train.window",
		fmt.Sprintf("want at least train.min_rows (%d), else no model is ever made; or 0 for all",
			c.MinRows), "train.min_rows")
	k.oneOf(c.Promote.Rule, "train.promote.rule", train.PromoteRules()...)
	k.rule(c.Promote.Margin == train.MarginAuto || -1 <= c.Promote.Margin && c.Promote.Margin < 1, "train.promote.margin",
		"want auto, or at least -1 and below 1: it is a share of the error of the current model")
}

// threshold checks that predictions can be decided by a threshold.
func (k *checker) threshold() {
	const key = "predict.threshold"
	s := k.config.Stages
	if s.Predict.Threshold == 0 {
		return
	}
	k.rule(s.Events.Task != encoder.TaskRegression, key, "a regression has no classes to decide between", "events.task")
	k.rule(s.Featurize.SetsFrom != "" || s.Train.Loss != training.LossSquared, key,
		"a model with train.loss squared has no probabilities; want logistic or auto", "train.loss")
}

// broughtPredictions checks that the column of supplied predictions is used for nothing else.
func (k *checker) broughtPredictions() {
	events, column := k.config.Stages.Events, k.config.Stages.Live.PredictionColumn
	const key = "live.prediction_column"
	if column == "" {
		return
	}
	k.rule(!slices.Contains(events.Features, column), key, "is one of events.features; want another column",
		"events.features")
	k.rule(!slices.Contains(events.Label, column), key, "is the label: predictions are compared with it", "events.label")
	k.rule(len(events.Label) < 2, key, "is one column, and events.label has several", "events.label")
}

// predictions checks that the prediction columns do not clash with those of the events.
func (k *checker) predictions() {
	k.broughtPredictions()
	k.threshold()
	if !k.config.Stages.Featurize.Predictions {
		return
	}
	events := k.config.Stages.Events
	bound := func(err error) string {
		return fmt.Sprintf("%v: featurize.predictions makes a column of that name", err)
	}
	if err := wire.CheckPredictionColumns(events.Passthrough); err != nil {
		k.rule(false, "events.passthrough", bound(err), "featurize.predictions")
	}
	if err := wire.CheckPredictionColumns(events.Label); err != nil {
		k.rule(false, "events.label", bound(err), "featurize.predictions")
	}
}

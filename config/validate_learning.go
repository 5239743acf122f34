package config

import (
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// minCandidateMemory is enough for any draw.
const minCandidateMemory = 1 << 20

// minSampleMemory is enough for any sample.
const minSampleMemory = 1 << 20

// maxRefineSteps is more than any refinement has needed to converge.
const maxRefineSteps = 1000

// minCalibrationRows is the minimum for a mean, a spread and a nearest neighbour.
const minCalibrationRows = 2

func (k *checker) exploration() {
	c := k.config.Stages.Exploration
	// Dimension and bandwidth are known only after calibration; all other parts of the description
	// are checked here with one candidate of one dimension, which is always possible.
	k.adopt("exploration", scoring.Candidates{
		Map: c.Map, Distribution: c.Distribution, Sigma: 1, Seed: c.Seed, Dim: 1, Count: 1,
	}.Validate())
	k.adopt("exploration", c.CheckCandidates())
	k.rule(finite(c.Sigma) && c.Sigma >= 0, "exploration.sigma",
		"want a positive finite number, or 0 for the nearest-neighbour rule")

	k.rule(1 <= c.Features && c.Features <= maxInt32, "exploration.features", "want 1 or more")
	k.rule(0 <= c.Candidates && c.Candidates <= maxInt32, "exploration.candidates",
		"want 1 or more, or 0 for ten times exploration.features, twenty times under criterion adaptive")
	k.rule(c.Features <= c.CandidateCount(), "exploration.features",
		fmt.Sprintf("want at most exploration.candidates (%d): features are chosen from the candidates", c.CandidateCount()),
		"exploration.candidates")
	k.rule(1 <= c.Rounds && c.Rounds <= maxInt32, "exploration.rounds", "want 1 or more")
	k.rule(0 <= c.RefineSteps && c.RefineSteps <= maxRefineSteps, "exploration.refine_steps",
		fmt.Sprintf("want 1 to %d, or 0 for rounds only", maxRefineSteps))
	k.rule(c.SampleMemory >= minSampleMemory, "exploration.sample_memory",
		"want 1MiB or more: the sampled rows and what is computed from them are kept in it")
	k.positive(c.LearningTime, "exploration.learning_time")
	k.rule(c.CandidateMemory >= minCandidateMemory, "exploration.candidate_memory",
		"want 1MiB or more: the candidates are kept in it")

	var froms []string
	for _, from := range wire.Froms() {
		froms = append(froms, string(from))
	}
	k.oneOf(string(c.From), "exploration.from", froms...)
	k.oneOf(string(c.Kernel), "exploration.kernel", string(calibrate.KernelAuto), string(calibrate.KernelPlain))
	k.rule(c.Window >= 1, "exploration.window", "want 1 or more")
	k.rule(c.WindowBytes >= 1, "exploration.window_bytes", "want 1 byte or more")
	k.rule(0 <= c.SampleRate && c.SampleRate <= 1, "exploration.sample_rate", "want auto, or above 0 and at most 1")
	k.rule(c.SampleRows >= 1, "exploration.sample_rows", "want 1 or more")
	k.rule(c.MinRows >= 1, "exploration.min_rows", "want 1 or more")
	k.rule(k.config.Stages.Events.ClassMinRows >= 0, "events.class_min_rows", "want 0 or more; 0 = never")
	k.rule(c.From != wire.FromRecent || c.MinRows <= c.Window, "exploration.min_rows",
		fmt.Sprintf("want at most exploration.window (%d): the window bounds the rows that are read",
			c.Window), "exploration.window")
	k.rule(c.CalibrationRows >= minCalibrationRows, "exploration.calibration_rows",
		fmt.Sprintf("want %d or more: a spread and a nearest neighbour are learned from them", minCalibrationRows))
	k.zeroIsOff(c.Every, "exploration.every", "never by time")
	k.rule(c.EveryOffsets >= 0, "exploration.every_offsets", "want 1 or more, or 0 for never by offsets")
}

func (k *checker) train() {
	c := k.config.Stages.Train
	k.positive(c.Interval, "train.interval")
	k.rule(c.MinRows >= 1, "train.min_rows", "want 1 or more")
	k.rule(0 < c.HeldOutFraction && c.HeldOutFraction < 1, "train.held_out_fraction",
		"want above 0 and below 1: lambda is chosen on the held-out rows and the weights are fitted on the others")
	k.rule(c.EvaluationRows >= 1, "train.evaluation_rows", "want 1 or more: the error is measured on them")
	if _, err := training.ParseGrid(c.LambdaGrid); err != nil {
		k.rule(false, "train.lambda_grid", "want relative, paper, or finite numbers >= 0 separated by commas")
	}
	k.oneOf(c.Loss, "train.loss", training.Losses()...)
	k.rule(c.Window == 0 || c.Window >= c.MinRows, "train.window",
		fmt.Sprintf("want at least train.min_rows (%d), else no model is ever made; or 0 for all",
			c.MinRows), "train.min_rows")
	k.positive(c.LearningTime, "train.learning_time")
	k.rule(c.RowMemory >= 1, "train.row_memory", "want 1 byte or more: the rows of the logistic loss are kept in it")
	k.oneOf(c.Promote.Rule, "train.promote.rule", train.PromoteRules()...)
	k.rule(c.Promote.Margin == train.MarginAuto || -1 <= c.Promote.Margin && c.Promote.Margin < 1, "train.promote.margin",
		"want auto, or at least -1 and below 1: it is a share of the error of the current model")
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

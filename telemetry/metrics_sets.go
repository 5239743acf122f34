package telemetry

import (
	"strconv"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// setMetrics cover explorations and feature sets.
var setMetrics = []metric{
	// Explorations and feature sets.
	{"exploration_running", gauge, "", "", "1 while an exploration is running.",
		one(func(r *reading) float64 { return truth(r.State.Running() != nil) })},
	{"exploration_sequence", gauge, "", "", "Sequence number of the newest exploration.",
		of(newest, func(spec *wire.Spec) float64 { return float64(spec.Sequence) })},
	{
		"exploration_partitions_excluded",
		gauge,
		"",
		"",
		"Partitions of events excluded from the plan of the newest exploration, because their work failed or they had no leader for long; its spec and the lineage of its set name them.",
		of(newest, func(spec *wire.Spec) float64 { return float64(len(spec.Excluded)) }),
	},
	{"exploration_planned_timestamp_seconds", gauge, "seconds", "", "When the newest exploration was planned.",
		of(newest, func(spec *wire.Spec) float64 { return timestamp(spec.PlannedAt) })},
	{"exploration_planning_missing_rows", gauge, "", "",
		"Labelled rows that a plan still lacks, from the process that plans.",
		one(func(r *reading) float64 { return float64(r.Activity.Planning.MissingRows) })},
	{
		"exploration_planning_failed",
		gauge,
		"",
		"",
		"1 while the last plan failed, from the process that plans; its log names the reason.",
		one(func(r *reading) float64 { return truth(r.Activity.Planning.Fault != "") }),
	},
	{
		"exploration_missing_rows",
		gauge,
		"",
		"",
		"Rows that the running exploration has yet to score, according to checkpoints, from the process that selects. Scale scoring workers by it.",
		one(func(r *reading) float64 { return where(r.Activity.MissingRows >= 0, float64(r.Activity.MissingRows)) }),
	},
	{"exploration_round", gauge, "", "",
		"Round of the running selection, from 1 on, from the process that selects; 0 if none is running.",
		one(func(r *reading) float64 { return float64(r.Activity.Choosing.Round) })},
	{"exploration_rounds", gauge, "", "", "Maximum number of rounds of the running selection; 0 if none is running.",
		one(func(r *reading) float64 { return float64(r.Activity.Choosing.Rounds) })},
	{
		"exploration_step",
		gauge,
		"",
		"",
		"Steps by which the running selection had moved its features when they were last measured; 0 before, and if none is running.",
		one(func(r *reading) float64 {
			if p := r.Activity.Choosing.Point; p != nil {
				return float64(p.Step)
			}
			return 0
		}),
	},
	{
		"exploration_held_out_loss_ratio",
		gauge,
		"ratio",
		"kind",
		"Under criterion adaptive, loss on held-out rows of the features that the running selection measured last, as a share of the variance of the outputs: features chosen by `residual`, chosen by a `round`, or moved by a `step`. Absent before the first measurement.",
		func(r *reading, out output) {
			if p := r.Activity.Choosing.Point; p != nil {
				out.value(p.Loss, string(p.Kind))
			}
		},
	},
	{"feature_set_info", gauge, "", "feature_set exploration criterion", "1, with the id of the current feature set.",
		func(r *reading, out output) {
			if r.set != nil {
				out.value(1, r.State.Current.ID, r.State.Current.Exploration, r.set.Lineage.Criterion.String())
			}
		}},
	{"feature_set_timestamp_seconds", gauge, "seconds", "", "When the current feature set became current.",
		of(current, func(r *reading) float64 { return timestamp(r.State.Current.Time) })},
	{"feature_set_sequence", gauge, "", "", "Sequence number of the exploration that selected the current feature set.",
		of(current, func(r *reading) float64 { return float64(r.State.Current.Sequence) })},
	{"feature_set_features", gauge, "", "", "Features in the current set (M).",
		of(current, func(r *reading) float64 { return float64(r.set.Set.Features.Len()) })},
	{"feature_set_scored_rows", gauge, "", "", "Rows by which the current feature set was selected.",
		of(current, func(r *reading) float64 { return float64(r.set.Lineage.Rows) })},
	{
		"feature_set_confidence_radius",
		gauge,
		"",
		"",
		"Confidence radius of the scores of the current set (Hoeffding, for bounded feature maps); absent for learned features, for which it does not hold.",
		of(drawn, func(r *reading) float64 { return r.set.Lineage.Radius }),
	},
	{
		"feature_set_large_sample_confidence_radius",
		gauge,
		"",
		"",
		"Greatest large-sample confidence radius among the features of the current set, for unbounded feature maps; absent for learned ones.",
		of(drawn, func(r *reading) float64 { return r.set.Lineage.LargeSampleRadius }),
	},
	{
		"feature_set_features_above_noise",
		gauge,
		"",
		"",
		"Features of the current set whose score is above the noise level; absent for learned ones, for which it does not hold.",
		of(drawn, func(r *reading) float64 { return float64(r.set.Lineage.AboveNoise) }),
	},
	{
		"feature_set_held_out_loss_ratio",
		gauge,
		"ratio",
		"kind",
		"Under criteria adaptive and residual, the lowest loss on held-out rows on the way to the current set, as a share of the variance of the outputs: of the choice of `residual`, of the rounds (`round`), of the refinement steps (`step`). The lowest of all became the set. It is a minimum, not an estimate of the error on new rows.",
		func(r *reading, out output) {
			for kind, loss := range leastLosses(r.set) {
				out.value(loss, string(kind))
			}
		},
	},
	{
		"feature_set_held_out_rows",
		gauge,
		"",
		"",
		"Under criterion adaptive, held-out rows on which the current set was judged.",
		of(learning, func(l *adaptive.Report) float64 { return float64(l.HeldOutRows) }),
	},
	{
		"feature_set_winner_info",
		gauge,
		"",
		"kind round step",
		"1, under criterion adaptive, with the origin of the features of the current set: `residual` is the fallback, `round` a choice of a round, `step` a move of the refinement.",
		func(r *reading, out output) {
			if l := learning(r); l != nil {
				best := l.Best()
				out.value(1, string(best.Kind), strconv.Itoa(best.Round), strconv.Itoa(best.Step))
			}
		},
	},
	{"feature_set_cutoff_score", gauge, "", "", "Score of the last selected feature.",
		of(current, func(r *reading) float64 { return r.set.Lineage.Cutoff })},
}

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
	{"exploration_partitions_excluded", gauge, "", "", "Partitions of events that the newest exploration was planned without, because their work failed or they had no leader for long; its spec and the lineage of its set name them.",
		of(newest, func(spec *wire.Spec) float64 { return float64(len(spec.Excluded)) })},
	{"exploration_planned_timestamp_seconds", gauge, "seconds", "", "When the newest exploration was planned.",
		of(newest, func(spec *wire.Spec) float64 { return timestamp(spec.PlannedAt) })},
	{"exploration_planning_missing_rows", gauge, "", "",
		"Labelled rows that a plan still lacks, from the process that plans.",
		one(func(r *reading) float64 { return float64(r.Activity.Planning.MissingRows) })},
	{"exploration_planning_failed", gauge, "", "", "1 while the last plan failed, from the process that plans; its log says why.",
		one(func(r *reading) float64 { return truth(r.Activity.Planning.Fault != "") })},
	{"exploration_missing_rows", gauge, "", "",
		"Rows that the running exploration has yet to score, as far as checkpoints tell, from the process that selects. Scale scoring workers by it.",
		one(func(r *reading) float64 { return where(r.Activity.MissingRows >= 0, float64(r.Activity.MissingRows)) })},
	{"exploration_round", gauge, "", "",
		"Round of the running selection, from 1 on, from the process that selects; 0 if none is running.",
		one(func(r *reading) float64 { return float64(r.Activity.Choosing.Round) })},
	{"exploration_rounds", gauge, "", "", "Most rounds that the running selection can have; 0 if none is running.",
		one(func(r *reading) float64 { return float64(r.Activity.Choosing.Rounds) })},
	{"exploration_step", gauge, "", "",
		"Steps by which the running selection had moved its features when they were last measured; 0 before, and if none is running.",
		one(func(r *reading) float64 {
			if p := r.Activity.Choosing.Point; p != nil {
				return float64(p.Step)
			}
			return 0
		})},
	{"exploration_held_out_loss_ratio", gauge, "ratio", "kind",
		"Under criterion adaptive, loss on held-out rows of the features that the running selection measured last, as a share of the variance of the outputs: what `residual` chooses, what a `round` chose, or what a `step` moved. Absent if there is none.",
		func(r *reading, out output) {
			if p := r.Activity.Choosing.Point; p != nil {
				out.value(p.Loss, string(p.Kind))
			}
		}},
	{"feature_set_info", gauge, "", "feature_set exploration criterion", "1, with the id of the feature set in use.",
		func(r *reading, out output) {
			if r.set != nil {
				out.value(1, r.State.Current.ID, r.State.Current.Exploration, r.set.Lineage.Criterion.String())
			}
		}},
	{"feature_set_timestamp_seconds", gauge, "seconds", "", "When the feature set in use was made current.",
		of(current, func(r *reading) float64 { return timestamp(r.State.Current.Time) })},
	{"feature_set_sequence", gauge, "", "", "Sequence number of the exploration that gave the feature set in use.",
		of(current, func(r *reading) float64 { return float64(r.State.Current.Sequence) })},
	{"feature_set_features", gauge, "", "", "Features in the set in use (M).",
		of(current, func(r *reading) float64 { return float64(r.set.Set.Features.Len()) })},
	{"feature_set_scored_rows", gauge, "", "", "Rows by which the feature set in use was selected.",
		of(current, func(r *reading) float64 { return float64(r.set.Lineage.Rows) })},
	{"feature_set_confidence_radius", gauge, "", "",
		"Confidence radius of the scores of the set in use (Hoeffding, for bounded feature maps); absent for learned features, about which it says nothing.",
		of(drawn, func(r *reading) float64 { return r.set.Lineage.Radius })},
	{"feature_set_large_sample_confidence_radius", gauge, "", "",
		"Greatest large-sample confidence radius among the features of the set in use, for unbounded feature maps; absent for learned ones.",
		of(drawn, func(r *reading) float64 { return r.set.Lineage.LargeSampleRadius })},
	{"feature_set_features_above_noise", gauge, "", "", "Features of the set in use whose score is above the noise level; absent for learned ones, about which it says nothing.",
		of(drawn, func(r *reading) float64 { return float64(r.set.Lineage.AboveNoise) })},
	{"feature_set_held_out_loss_ratio", gauge, "ratio", "kind",
		"Under criteria adaptive and residual, the lowest loss on held-out rows on the way to the set in use, as a share of the variance of the outputs: of what `residual` chooses, of the rounds (`round`), of the refinement steps (`step`). The lowest of all became the set. It is a minimum, not an estimate of the error on new rows.",
		func(r *reading, out output) {
			for kind, loss := range leastLosses(r.set) {
				out.value(loss, string(kind))
			}
		}},
	{"feature_set_held_out_rows", gauge, "", "", "Under criterion adaptive, held-out rows on which the set in use was judged.",
		of(learning, func(l *adaptive.Report) float64 { return float64(l.HeldOutRows) })},
	{"feature_set_winner_info", gauge, "", "kind round step",
		"1, under criterion adaptive, with the features that became the set in use: `residual` is the fallback, `round` those that a round chose, `step` those that the refinement moved.",
		func(r *reading, out output) {
			if l := learning(r); l != nil {
				best := l.Best()
				out.value(1, string(best.Kind), strconv.Itoa(best.Round), strconv.Itoa(best.Step))
			}
		}},
	{"feature_set_cutoff_score", gauge, "", "", "Score of the last feature that was kept.",
		of(current, func(r *reading) float64 { return r.set.Lineage.Cutoff })},
}

package telemetry

import (
	"maps"
	"strconv"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// metrics is the table. The test of this package with -update writes from it what docs/operations.md and testdata say.
var metrics = []metric{
	// What was handled, by stage. What is counted is there from the start, at 0, with every combination of labels: else the first of a kind would have no
	// rate, as Prometheus sees a counter grow only from where it was before.
	{"rows_total", counter, "", "stage outcome",
		"Rows, by what became of them; each has one outcome in a stage. Calibrate: `read`; subsample: `scored`, `not_sampled`, `unlabelled`, `rejected`; featurize: `featurized`, `rejected`; train: `trained`, `unlabelled`, `duplicate`.",
		func(r *reading, out output) {
			t := r.Totals
			out.count(t.Calibrate.Rows, meter.StageCalibrate, "read")
			out.count(t.Scoring.Scored, meter.StageSubsample, "scored")
			out.count(t.Scoring.NotSampled, meter.StageSubsample, "not_sampled")
			out.count(t.Scoring.Unlabelled, meter.StageSubsample, "unlabelled")
			out.count(t.Scoring.Rejected, meter.StageSubsample, "rejected")
			out.count(t.Featurize.Featurized, meter.StageFeaturize, "featurized")
			out.count(t.Featurize.Rejected, meter.StageFeaturize, "rejected")
			out.count(t.Train.Rows, meter.StageTrain, "trained")
			out.count(t.Train.Unlabelled, meter.StageTrain, "unlabelled")
			out.count(t.Train.Duplicate, meter.StageTrain, "duplicate")
		}},
	{"messages_total", counter, "", "stage outcome",
		"Messages read, by what became of them: `used`, `undecodable`, and for train `other_set` (of another feature set than the one trained on).",
		func(r *reading, out output) {
			t := r.Totals
			out.outcomes(meter.StageCalibrate, t.Calibrate.Messages-t.Calibrate.Undecodable, t.Calibrate.Undecodable)
			out.outcomes(meter.StageSubsample, t.Scoring.Messages-t.Scoring.Undecodable, t.Scoring.Undecodable)
			out.outcomes(meter.StageFeaturize, t.Featurize.Messages-t.Featurize.Undecodable, t.Featurize.Undecodable)
			out.outcomes(meter.StageTrain, t.Train.Messages-t.Train.OtherSet-t.Train.Undecodable, t.Train.Undecodable)
			out.count(t.Train.OtherSet, meter.StageTrain, "other_set")
		}},
	{"message_bytes_total", counter, "bytes", "stage outcome",
		"Bytes of the messages read (keys, values, headers), by what became of the messages.",
		func(r *reading, out output) {
			for _, stage := range []string{meter.StageCalibrate, meter.StageSubsample, meter.StageFeaturize, meter.StageTrain} {
				out.outcomes(stage, r.Activity.Traffic[stage].UsedBytes, r.Activity.Traffic[stage].UndecodableBytes)
			}
			out.count(r.Activity.Traffic[meter.StageTrain].OtherSetBytes, meter.StageTrain, "other_set")
		}},
	{"output_messages_total", counter, "", "stage",
		"Messages that were written and acknowledged: of featurize those of features, of subsample those of sampled rows.",
		written(func(t meter.Traffic) int64 { return t.OutputMessages })},
	{"output_bytes_total", counter, "bytes", "stage", "Bytes of the messages that were written and acknowledged.",
		written(func(t meter.Traffic) int64 { return t.OutputBytes })},
	{"encoded_values_total", counter, "", "stage treatment",
		"Values that the encoder did not take as they are: nulls `imputed`, categories without a dimension of their own (`unseen_category`), numbers `clipped`. If it grows, the data drift from what calibration saw.",
		func(r *reading, out output) {
			s, f := r.Totals.Scoring, r.Totals.Featurize
			out.count(s.Imputed, meter.StageSubsample, "imputed")
			out.count(s.UnseenCategory, meter.StageSubsample, "unseen_category")
			out.count(s.Clipped, meter.StageSubsample, "clipped")
			out.count(f.Imputed, meter.StageFeaturize, "imputed")
			out.count(f.UnseenCategory, meter.StageFeaturize, "unseen_category")
			out.count(f.Clipped, meter.StageFeaturize, "clipped")
		}},
	{"unseen_class_rows_total", counter, "", "stage",
		"Rows of classes that are neither configured nor among the rows that the exploration read: not scored, not trained on. The log and the status page name the classes; labels of metrics do not, since they would hold data.",
		func(r *reading, out output) {
			out.count(r.Totals.Scoring.UnseenClass, meter.StageSubsample)
			out.count(r.Totals.Featurize.UnseenClass, meter.StageFeaturize)
		}},
	{"class_requests_total", counter, "", "",
		"Explorations that a featurize process has asked for since a class that the newest one does not know has had `events.class_min_rows` rows.",
		func(r *reading, out output) { out.count(r.Activity.ClassRequests) }},
	{"prediction_rows_total", counter, "", "outcome",
		"With `featurize.predictions`, rows `predicted`, and rows without a prediction: `no_model`, `other_feature_set`, `unusable_model`.",
		func(r *reading, out output) {
			f := r.Totals.Featurize
			out.count(f.Predicted, "predicted")
			out.count(f.NoModel, "no_model")
			out.count(f.OtherSetModel, "other_feature_set")
			out.count(f.UnusableModel, "unusable_model")
		}},
	{"missing_offsets_total", counter, "", "", "Offsets of events that retention removed before they were featurized.",
		func(r *reading, out output) { out.count(r.Totals.Featurize.MissingOffsets) }},
	{"undecodable_records_total", counter, "", "topic",
		"Records under the pipeline's own keys of a control topic that could not be decoded and were passed over, each time that one was read.",
		func(r *reading, out output) {
			for t, n := range r.State.Undecodable {
				topic := r.topics.Name(state.Topic(t))
				out.count(n+r.Activity.Undecodable[topic], topic)
			}
		}},
	{"dead_letters_total", counter, "", "stage reason",
		"Dead letters sent: refused messages, and messages with rejected rows (by the reason of the first).",
		func(r *reading, out output) {
			sent := map[meter.Cause]int64{}
			for _, stage := range meter.Stages() {
				for _, reason := range deadletter.Reasons(stage) {
					sent[meter.Cause{Stage: stage, Reason: reason}] = 0
				}
			}
			maps.Copy(sent, r.Activity.DeadLetters)
			for cause, n := range sent {
				out.count(n, cause.Stage, cause.Reason)
			}
		}},
	{"stage_busy_seconds_total", counter, "seconds", "stage",
		"Time that a stage worked, summed over its partitions: its rate is cores, about.",
		func(r *reading, out output) {
			for _, stage := range meter.Stages() {
				out.value(r.Totals.Seconds[stage], stage)
			}
		}},
	{"message_handling_seconds", histograms, "seconds", "stage",
		"Time from taking a message in hand to having scored it, made its features or added it to the sums; for features with the time in which the broker could not take them.",
		func(r *reading, out output) {
			for stage, times := range r.Activity.Handling {
				out.times(times, stage)
			}
		}},
	{"feature_delay_seconds", histograms, "seconds", "",
		"Time from the timestamp of an event message to the acknowledgement of its features.",
		func(r *reading, out output) { out.times(r.Activity.Delay) }},

	// Where the stages stand in the partitions that the process reads.
	{"lag_seconds", gauge, "seconds", "stage partition",
		"Age, by the time of its event, of the first message that is not processed (not scored; whose features are not acknowledged; not added to the sums of training); 0 when all are. Of subsample only while a partition is read for an exploration. Train reads `features` every `train.interval`, and between two readings it is so much behind.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(!p.FetchedAt.IsZero(), p.Lag.Seconds()) })},
	{"lag_messages", gauge, "", "stage partition", "Offsets from the first message that is not processed to the end of the log.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(endKnown(p), float64(p.LagMessages())) })},
	{"lag_rows", gauge, "", "stage partition", "Rows in the messages that are not processed, estimated by the rows of a message so far.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(endKnown(p), p.LagRows) })},
	{"next_offset", gauge, "", "stage partition", "Offset of the first message that is not processed.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return float64(p.NextOffset) })},
	{"last_fetch_timestamp_seconds", gauge, "seconds", "stage partition", "When the broker last answered a request for messages.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return timestamp(p.FetchedAt) })},
	{"checkpoint_timestamp_seconds", gauge, "seconds", "partition",
		"When the newest checkpoint of a partition that is being scored was written.",
		ofScored(func(p meter.PartitionStatus) float64 { return timestamp(p.CheckpointAt) })},
	{"unsaved_rows", gauge, "", "partition", "Rows of a partition that is being scored that are in no checkpoint yet and would be read again.",
		ofScored(func(p meter.PartitionStatus) float64 { return float64(p.UnsavedRows) })},

	// Consumer groups and the broker.
	{"group_joined", gauge, "", "stage",
		"1 while the process is a member of the stage's consumer group, with partitions or without.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return truth(g.Joined) })},
	{"group_joins_total", counter, "", "stage",
		"Times that the process joined the stage's consumer group: the first time, and at every rebalance.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return float64(g.Joins) })},
	{"owned_partitions", gauge, "", "stage", "Partitions assigned to the process.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return float64(len(g.Partitions)) })},
	{"stage_stands_aside", gauge, "", "stage",
		"1 while a stage that scores or selects has given up what it owned, since the exploration is for another numeric kernel than the process has; `/readyz` and the log say which.",
		func(r *reading, out output) {
			for stage, why := range r.Activity.Aside {
				out.value(truth(why != ""), stage)
			}
		}},
	{"broker_requests_total", counter, "", "operation outcome",
		"Requests to the brokers: `ok`, `refused` (asking again would not help) or `retried`.",
		func(r *reading, out output) {
			for _, stats := range r.requests {
				out.count(int64(stats.OK), stats.Operation, "ok")
				out.count(int64(stats.Refused), stats.Operation, "refused")
				out.count(int64(stats.Failed), stats.Operation, "retried")
			}
		}},
	{"broker_request_duration_seconds", histograms, "seconds", "operation",
		"Time of requests to the brokers; a fetch waits there while nothing comes.",
		func(r *reading, out output) {
			for _, stats := range r.requests {
				out.times(stats.Seconds, stats.Operation)
			}
		}},

	// Explorations and feature sets.
	{"exploration_running", gauge, "", "", "1 while an exploration is under way.",
		one(func(r *reading) float64 { return truth(r.State.Running() != nil) })},
	{"exploration_sequence", gauge, "", "", "Sequence number of the newest exploration.",
		of(newest, func(spec *wire.Spec) float64 { return float64(spec.Sequence) })},
	{"exploration_planned_timestamp_seconds", gauge, "seconds", "", "When the newest exploration was planned.",
		of(newest, func(spec *wire.Spec) float64 { return timestamp(spec.PlannedAt) })},
	{"exploration_planning_missing_rows", gauge, "", "",
		"Labelled rows that are missing for a plan, from the process that plans; 0 when none are.",
		one(func(r *reading) float64 { return float64(r.Activity.Planning.MissingRows) })},
	{"exploration_planning_failed", gauge, "", "", "1 while the last plan failed, from the process that plans; its log says why.",
		one(func(r *reading) float64 { return truth(r.Activity.Planning.Fault != "") })},
	{"exploration_missing_rows", gauge, "", "",
		"Rows that the running exploration has yet to score, as far as checkpoints tell, from the process that selects. What scoring workers are to be scaled by.",
		one(func(r *reading) float64 { return where(r.Activity.MissingRows >= 0, float64(r.Activity.MissingRows)) })},
	{"exploration_round", gauge, "", "",
		"Round of the selection in hand, from 1 on, from the process that selects; 0 when there is none.",
		one(func(r *reading) float64 { return float64(r.Activity.Choosing.Round) })},
	{"exploration_rounds", gauge, "", "", "Rounds that the selection in hand has at most; 0 when there is none.",
		one(func(r *reading) float64 { return float64(r.Activity.Choosing.Rounds) })},
	{"exploration_step", gauge, "", "",
		"Steps by which the selection in hand has moved its features, when they were last measured; 0 before, and when there is none.",
		one(func(r *reading) float64 {
			if p := r.Activity.Choosing.Point; p != nil {
				return float64(p.Step)
			}
			return 0
		})},
	{"exploration_held_out_loss_ratio", gauge, "ratio", "kind",
		"Loss on held-out rows of the features that the selection in hand measured last, as a share of the variance of the outputs, under criterion adaptive: what `residual` chooses, what a `round` chose, or what a `step` moved. Absent when there is none.",
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
	{"feature_set_sequence", gauge, "", "", "Sequence number of the exploration that the feature set in use came from.",
		of(current, func(r *reading) float64 { return float64(r.State.Current.Sequence) })},
	{"feature_set_features", gauge, "", "", "Features in the set in use (M).",
		of(current, func(r *reading) float64 { return float64(r.set.Set.Features.Len()) })},
	{"feature_set_scored_rows", gauge, "", "", "Rows that the feature set in use was selected by.",
		of(current, func(r *reading) float64 { return float64(r.set.Lineage.Rows) })},
	{"feature_set_confidence_radius", gauge, "", "",
		"Confidence radius of the scores of the set in use (Hoeffding, for bounded feature maps); absent for learned features, of which it says nothing.",
		of(drawn, func(r *reading) float64 { return r.set.Lineage.Radius })},
	{"feature_set_large_sample_confidence_radius", gauge, "", "",
		"Greatest large-sample confidence radius among the features of the set in use, for unbounded feature maps; absent for learned ones.",
		of(drawn, func(r *reading) float64 { return r.set.Lineage.LargeSampleRadius })},
	{"feature_set_features_above_noise", gauge, "", "", "Features of the set in use whose score is above the noise level; absent for learned ones, of which it says nothing.",
		of(drawn, func(r *reading) float64 { return float64(r.set.Lineage.AboveNoise) })},
	{"feature_set_held_out_loss_ratio", gauge, "ratio", "kind",
		"Under criterion adaptive, the least loss on held-out rows on the way to the set in use, as a share of the variance of the outputs: of what `residual` chooses, of the rounds (`round`), of the steps of the refinement (`step`). The least of all became the set. It is a minimum, and not an estimate of the error on new rows.",
		func(r *reading, out output) {
			for kind, loss := range leastLosses(r.set) {
				out.value(loss, string(kind))
			}
		}},
	{"feature_set_held_out_rows", gauge, "", "", "Under criterion adaptive, held-out rows that the set in use was judged on.",
		of(learning, func(l *adaptive.Report) float64 { return float64(l.HeldOutRows) })},
	{"feature_set_winner_info", gauge, "", "kind round step",
		"1, under criterion adaptive, with which features became the set in use: `residual` is the fallback, `round` those that a round chose, `step` those that the refinement moved.",
		func(r *reading, out output) {
			if l := learning(r); l != nil {
				best := l.Best()
				out.value(1, string(best.Kind), strconv.Itoa(best.Round), strconv.Itoa(best.Step))
			}
		}},
	{"feature_set_cutoff_score", gauge, "", "", "Score of the last feature that was kept.",
		of(current, func(r *reading) float64 { return r.set.Lineage.Cutoff })},
	{"feature_set_churn_ratio", gauge, "ratio", "",
		"Share of the features in use that the set before (the next lower sequence number on the topic) did not have; absent where there is none. A feature is the same if it is the same draw, whatever its bandwidth; another seed, map, sampler or set of columns is a churn of 1.",
		one(func(r *reading) float64 { return r.churn })},

	// Models, from the process that trains.
	{"model_info", gauge, "", "model feature_set loss",
		"1, with the id of the model in use. This and the other metrics of models are served by the process that trains.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(1, m.ID, m.FeatureSetID, m.Model.Loss)
			}
		}},
	{"model_timestamp_seconds", gauge, "seconds", "", "When the model in use was trained.",
		of(model, func(m *wire.Model) float64 { return timestamp(m.TrainedAt) })},
	{"model_training_rows", gauge, "", "", "Rows that the model in use was fitted on.",
		of(model, func(m *wire.Model) float64 { return float64(m.TrainRows) })},
	{"model_error_ratio", gauge, "ratio", "measure",
		"Held-out error of the model in use when it was trained, 1 being 100 %: `misclassification`; or `unexplained_variance` and the paper's `relative_squared_error`.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(ratio(m.Metrics.Misclassification), "misclassification")
				out.value(ratio(m.Metrics.RelativeSquaredError), "relative_squared_error")
				out.value(ratio(m.Metrics.UnexplainedVariance), "unexplained_variance")
			}
		}},
	{"model_constant_error_ratio", gauge, "ratio", "",
		"Held-out error of a constant prediction, in the main measure of the model in use: the misclassification of the commonest class, or the unexplained variance of the mean, which is 1.",
		of(model, func(m *wire.Model) float64 {
			_, _, constant := m.Metrics.Main()
			return ratio(constant)
		})},
	{"model_log_loss", gauge, "", "predictor",
		"Mean of -log p of the class on the held-out rows, in nats, of the `model` in use when it was trained and of a `constant`; with the logistic loss.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(figure(m.Metrics.LogLoss), "model")
				out.value(figure(m.Metrics.ConstantLogLoss), "constant")
			}
		}},
	{"model_auc_ratio", gauge, "ratio", "",
		"Of two classes, how often the model in use gave a held-out row of the second the larger output than one of the first, a tie counting half.",
		of(model, func(m *wire.Model) float64 { return figure(m.Metrics.AUC) })},
	{"model_average_precision_ratio", gauge, "ratio", "class",
		"Average precision of the model in use on held-out rows, for the one of two classes that has less than a tenth of them.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(figure(m.Metrics.AveragePrecision), m.Metrics.RareClass)
			}
		}},
	{"model_recall_ratio", gauge, "ratio", "class",
		"Share of the held-out rows of a class that the model in use gave it when it was trained; of the first 50 classes.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				for _, class := range m.Metrics.Recall[:min(len(m.Metrics.Recall), recallClasses)] {
					if class.Rows > 0 {
						out.value(class.Share(), class.Class)
					}
				}
			}
		}},
	{"model_calibration_error_ratio", gauge, "ratio", "",
		"How far the probabilities of the model in use were from what was seen on held-out rows: the mean over ten bins, by their rows.",
		of(model, func(m *wire.Model) float64 { return figure(m.Metrics.CalibrationError()) })},
	{"model_rmse", gauge, "", "output",
		"Root mean squared error of the model in use on held-out rows when it was trained, in units of the label, by number of the output.",
		byOutput(func(m *wire.Model) []float64 { return m.Metrics.RMSE })},
	{"model_mae", gauge, "", "output",
		"Mean absolute error of the model in use on held-out rows when it was trained, in units of the label, by number of the output.",
		byOutput(func(m *wire.Model) []float64 { return m.Metrics.MAE })},
	{"model_row_share_ratio", gauge, "ratio", "",
		"Share of the training rows, by their hash, that the model in use was made from: below 1 where those of the logistic loss did not fit into `train.row_memory`.",
		of(model, func(m *wire.Model) float64 {
			if m.Metrics.RowShare == 0 {
				return 1
			}
			return m.Metrics.RowShare
		})},
	{"model_held_out_seen_ratio", gauge, "ratio", "",
		"Share of the held-out rows of the model in use, about, that frequencies of its feature set were learned from: its error may be too low by it. 0 where held-out rows come from other events, or nothing was learned.",
		of(model, func(m *wire.Model) float64 {
			if m.Metrics.Seen == nil {
				return 0
			}
			return m.Metrics.Seen.Share
		})},
	{"model_challenger_timestamp_seconds", gauge, "seconds", "", "When the newest model was trained, whether or not it is in use.",
		one(func(r *reading) float64 { return timestamp(r.Activity.Challenges.At) })},
	{"model_challengers_total", counter, "", "verdict",
		"Models that were trained, by the verdict on each: those that took the place of the one in use, and those that did not.",
		func(r *reading, out output) {
			for _, verdict := range wire.Verdicts() {
				out.count(r.Activity.Challenges.Verdicts[verdict], string(verdict))
			}
		}},
	{"model_compared_error_ratio", gauge, "ratio", "model measure",
		"Error of the newest model (`challenger`) and of the one that was in use (`incumbent`) on the same held-out rows.",
		func(r *reading, out output) {
			if last := compared(r); last != nil {
				out.value(ratio(last.ChallengerError), "challenger", last.Measure)
				out.value(ratio(last.IncumbentError), "incumbent", last.Measure)
			}
		}},
	{"model_compared_rows", gauge, "", "", "Held-out rows that the newest model and the one that was in use were compared on.",
		of(compared, func(j *wire.Judgement) float64 { return float64(j.Rows) })},
	{"model_pinned", gauge, "", "", "1 while the model in use is pinned by a rollback.",
		one(func(r *reading) float64 { return truth(r.Activity.Challenges.Pin != "") })},

	// The process.
	{"memory_limit_bytes", gauge, "bytes", "",
		"Resident memory that the process may take: as configured, or the limit of its container; absent without a limit. Beside it `process_resident_memory_bytes`, what it takes, and `go_gc_gomemlimit_bytes`, what the Go runtime aims at.",
		one(func(r *reading) float64 { return where(r.process.MemoryLimit > 0, float64(r.process.MemoryLimit)) })},
	{"memory_worst_case_bytes", gauge, "bytes", "", "Memory that the process may need at the worst, by its configuration.",
		one(func(r *reading) float64 {
			return where(r.process.MemoryWorstCase > 0, float64(r.process.MemoryWorstCase))
		})},
	{"memory_budget_bytes", gauge, "bytes", "setting",
		"Memory that a setting of the stages that the process runs allows: `exploration.candidate_memory` (the candidates that are kept), `exploration.sample_memory`, and where classes may be trained on `train.row_memory`.",
		ofBudgets(func(b meter.Budget) int64 { return b.Limit })},
	{"memory_budget_used_bytes", gauge, "bytes", "setting", "Memory in use of what a setting allows.",
		ofBudgets(func(b meter.Budget) int64 { return b.Used })},
	{"build_info", gauge, "", "version revision kernel", "1, with what the process was built from and computes with.",
		func(r *reading, out output) {
			out.value(1, r.process.Version, r.process.Revision, scoring.Arithmetic())
		}},
}

// The sources of similar metrics.

// one is a metric of a single value.
func one(value func(r *reading) float64) source {
	return func(r *reading, out output) { out.value(value(r)) }
}

// of is a value of a part that may not be there.
func of[T any](part func(r *reading) *T, value func(t *T) float64) source {
	return func(r *reading, out output) {
		if t := part(r); t != nil {
			out.value(value(t))
		}
	}
}

func newest(r *reading) *wire.Spec { return r.State.Spec }

func model(r *reading) *wire.Model { return r.Activity.Model }

// recallClasses bounds the classes whose recall is a series.
const recallClasses = 50

// byOutput is a figure of the model in use for each output of its label.
func byOutput(figures func(m *wire.Model) []float64) source {
	return func(r *reading, out output) {
		if m := r.Activity.Model; m != nil {
			for k, v := range figures(m) {
				out.value(v, strconv.Itoa(k))
			}
		}
	}
}

// current is the reading where a feature set is in use.
func current(r *reading) *reading {
	if r.set == nil {
		return nil
	}
	return r
}

// drawn is the reading where the features of the set in use are candidates as they were drawn.
func drawn(r *reading) *reading {
	if r.set == nil || r.set.Lineage.Learned() {
		return nil
	}
	return r
}

// learning says how the features of the set in use were learned.
func learning(r *reading) *adaptive.Report {
	if r.set == nil {
		return nil
	}
	return r.set.Lineage.Learning
}

// leastLosses are the least losses on held-out rows on the way to a set, by kind.
func leastLosses(set *wire.FeatureSet) map[adaptive.Kind]float64 {
	least := map[adaptive.Kind]float64{}
	if set == nil || set.Lineage.Learning == nil {
		return least
	}
	for _, p := range set.Lineage.Learning.Points {
		if loss, ok := least[p.Kind]; !ok || p.Loss < loss {
			least[p.Kind] = p.Loss
		}
	}
	return least
}

// compared is the newest judgement where it compares two models.
func compared(r *reading) *wire.Judgement {
	if last := r.Activity.Challenges.Last; last != nil && last.Compared() {
		return last
	}
	return nil
}

// written is what the stages wrote that count it.
func written(count func(t meter.Traffic) int64) source {
	return func(r *reading, out output) {
		for _, stage := range []string{meter.StageSubsample, meter.StageFeaturize} {
			out.count(count(r.Activity.Traffic[stage]), stage)
		}
	}
}

// ofPartitions is a value of each partition that a stage reads.
func ofPartitions(value func(p meter.PartitionStatus) float64) source {
	return func(r *reading, out output) {
		for _, p := range r.Partitions {
			out.value(value(p), p.Stage, strconv.Itoa(p.Partition))
		}
	}
}

// ofScored is a value of each partition that subsample reads.
func ofScored(value func(p meter.PartitionStatus) float64) source {
	return func(r *reading, out output) {
		for _, p := range r.Partitions {
			if p.Stage == meter.StageSubsample {
				out.value(value(p), strconv.Itoa(p.Partition))
			}
		}
	}
}

// endKnown says that the end of a partition is known.
func endKnown(p meter.PartitionStatus) bool { return p.EndOffset > 0 || !p.FetchedAt.IsZero() }

// ofGroups is a value of the consumer group of each stage.
func ofGroups(value func(g pipeline.GroupStatus) float64) source {
	return func(r *reading, out output) {
		for stage, group := range r.Groups {
			out.value(value(group), stage)
		}
	}
}

// ofBudgets is a value of each budget.
func ofBudgets(bytes func(b meter.Budget) int64) source {
	return func(r *reading, out output) {
		for _, b := range r.Activity.Budgets {
			out.count(bytes(b), b.Setting)
		}
	}
}

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

// metrics is the table. With -update, the test of this package derives testdata/metrics.txt from it.
var metrics = []metric{
	// What was handled, by stage. Every combination of labels exists from the start, at 0. Otherwise the first event
	// of a kind would have no rate, because Prometheus only sees a counter grow from an earlier value.
	{"rows_total", counter, "", "stage outcome",
		"Rows by outcome; each has one outcome per stage. Calibrate: `read`; subsample: `scored`, `not_sampled`, `unlabelled`, `rejected`; featurize: `featurized`, `rejected`; train: `trained`, `not_sampled`, `unlabelled`, `duplicate`.",
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
			out.count(t.Train.NotSampled, meter.StageTrain, "not_sampled")
			out.count(t.Train.Unlabelled, meter.StageTrain, "unlabelled")
			out.count(t.Train.Duplicate, meter.StageTrain, "duplicate")
		}},
	{"messages_total", counter, "", "stage outcome",
		"Messages read, by outcome: `used`, `undecodable`, and for train `other_set` (of another feature set than the one trained on).",
		func(r *reading, out output) {
			t := r.Totals
			out.outcomes(meter.StageCalibrate, t.Calibrate.Messages-t.Calibrate.Undecodable, t.Calibrate.Undecodable)
			out.outcomes(meter.StageSubsample, t.Scoring.Messages-t.Scoring.Undecodable, t.Scoring.Undecodable)
			out.outcomes(meter.StageFeaturize, t.Featurize.Messages-t.Featurize.Undecodable, t.Featurize.Undecodable)
			out.outcomes(meter.StageTrain, t.Train.Messages-t.Train.OtherSet-t.Train.Undecodable, t.Train.Undecodable)
			out.count(t.Train.OtherSet, meter.StageTrain, "other_set")
		}},
	{"message_bytes_total", counter, "bytes", "stage outcome",
		"Bytes of the messages read (keys, values, headers), by outcome.",
		func(r *reading, out output) {
			for _, stage := range []string{meter.StageCalibrate, meter.StageSubsample, meter.StageFeaturize, meter.StageTrain} {
				out.outcomes(stage, r.Activity.Traffic[stage].UsedBytes, r.Activity.Traffic[stage].UndecodableBytes)
			}
			out.count(r.Activity.Traffic[meter.StageTrain].OtherSetBytes, meter.StageTrain, "other_set")
		}},
	{"output_messages_total", counter, "", "stage",
		"Messages written and acknowledged: features by featurize, sampled rows by subsample.",
		written(func(t meter.Traffic) int64 { return t.OutputMessages })},
	{"output_bytes_total", counter, "bytes", "stage", "Bytes of the messages written and acknowledged.",
		written(func(t meter.Traffic) int64 { return t.OutputBytes })},
	{"encoded_values_total", counter, "", "stage treatment",
		"Values that the encoder changed: nulls `imputed`, categories without a dimension of their own (`unseen_category`), numbers `clipped`. If it grows, the data drift from what calibration saw.",
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
		"Rows of classes that are neither configured nor among the rows that the exploration read: not scored, not trained on. The log and the status page name the classes; metrics do not, as names are data.",
		func(r *reading, out output) {
			out.count(r.Totals.Scoring.UnseenClass, meter.StageSubsample)
			out.count(r.Totals.Featurize.UnseenClass, meter.StageFeaturize)
		}},
	{"class_requests_total", counter, "", "",
		"Explorations that a featurize process asked for because a class that the newest one does not know has reached `events.class_min_rows` rows.",
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
	{"missing_offsets_total", counter, "", "", "Offsets of events that retention removed before they were featurized, or that a truncated or recreated log is known to have lost.",
		func(r *reading, out output) { out.count(r.Totals.Featurize.MissingOffsets) }},
	{"undecodable_records_total", counter, "", "topic",
		"Undecodable records under the pipeline's own keys of a control topic, which are ignored; counted each time one is read.",
		func(r *reading, out output) {
			for t, n := range r.State.Undecodable {
				topic := r.topics.Name(state.Topic(t))
				out.count(n+r.Activity.Undecodable[topic], topic)
			}
		}},
	{"log_changes_total", counter, "", "topic kind",
		"Topics found `recreated` (deleted and created again) or `truncated` (without their last records), once per partition and reader that noticed it.",
		func(r *reading, out output) {
			changes := maps.Clone(r.Activity.LogChanges)
			if changes == nil {
				changes = map[meter.LogChange]int64{}
			}
			for t, n := range r.State.Recreated {
				changes[meter.LogChange{Topic: r.topics.Name(state.Topic(t)), Kind: string(pipeline.GapRecreated)}] += n
				changes[meter.LogChange{Topic: r.topics.Name(state.Topic(t)), Kind: string(pipeline.GapTruncated)}] += r.State.Truncated[t]
			}
			for change, n := range changes {
				out.count(n, change.Topic, change.Kind)
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
		"Busy time of a stage, summed over its partitions: its rate is about the number of cores in use.",
		func(r *reading, out output) {
			for _, stage := range meter.Stages() {
				out.value(r.Totals.Seconds[stage], stage)
			}
		}},
	{"message_handling_seconds", histograms, "seconds", "stage",
		"Time from starting on a message until it is scored, its features are made or it is added to the sums; for features including the time in which the broker could not take them.",
		func(r *reading, out output) {
			for stage, times := range r.Activity.Handling {
				out.times(times, stage)
			}
		}},
	{"feature_delay_seconds", histograms, "seconds", "",
		"Time from the timestamp of an event message to the acknowledgement of its features.",
		func(r *reading, out output) { out.times(r.Activity.Delay) }},

	// The position of the stages in the partitions that the process reads.
	{"lag_seconds", gauge, "seconds", "stage partition",
		"Age, by the time of its event, of the first unprocessed message (not scored; features not acknowledged; not added to the sums of training); 0 without one. For subsample only while a partition is read for an exploration. Train reads `features` every `train.interval`, and falls that far behind in between.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(!p.FetchedAt.IsZero(), p.Lag.Seconds()) })},
	{"lag_messages", gauge, "", "stage partition", "Offsets from the first unprocessed message to the end of the log.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(endKnown(p), float64(p.LagMessages())) })},
	{"lag_rows", gauge, "", "stage partition", "Rows in unprocessed messages, estimated from the rows per message so far.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(endKnown(p), p.LagRows) })},
	{"next_offset", gauge, "", "stage partition", "Offset of the first unprocessed message.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return float64(p.NextOffset) })},
	{"last_fetch_timestamp_seconds", gauge, "seconds", "stage partition", "When the broker last answered a fetch.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return timestamp(p.FetchedAt) })},
	{"checkpoint_timestamp_seconds", gauge, "seconds", "partition",
		"When the newest checkpoint of a partition that is being scored was written.",
		ofScored(func(p meter.PartitionStatus) float64 { return timestamp(p.CheckpointAt) })},
	{"unsaved_rows", gauge, "", "partition", "Scored rows of a partition that are not in a checkpoint yet and would be read again.",
		ofScored(func(p meter.PartitionStatus) float64 { return float64(p.UnsavedRows) })},

	// Consumer groups and the broker.
	{"group_joined", gauge, "", "stage",
		"1 while the process is a member of the stage's consumer group, with partitions or without.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return truth(g.Joined) })},
	{"group_joins_total", counter, "", "stage",
		"Joins of the stage's consumer group by the process: the first one, and one per rebalance.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return float64(g.Joins) })},
	{"owned_partitions", gauge, "", "stage", "Partitions assigned to the process.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return float64(len(g.Partitions)) })},
	{"stage_wrong_kernel", gauge, "", "stage",
		"1 while a stage that scores or selects has given up what it owned because the exploration is for another numeric kernel; `/readyz` and the log say which.",
		func(r *reading, out output) {
			for stage, why := range r.Activity.WrongKernel {
				out.value(truth(why != ""), stage)
			}
		}},
	{"stage_partitions_quarantined", gauge, "", "stage",
		"Partitions that the process has quarantined because their work fails for good; it retries them at intervals, and the others go on. `/readyz`, the status page and the log say which, and why.",
		func(r *reading, out output) {
			quarantined := map[string]float64{}
			for _, stage := range meter.Stages() {
				if stage != meter.StageCalibrate { // plans are made without such a partition
					quarantined[stage] = 0
				}
			}
			for _, q := range r.Activity.Quarantined {
				quarantined[q.Stage]++
			}
			for stage, partitions := range quarantined {
				out.value(partitions, stage)
			}
		}},
	{"broker_requests_total", counter, "", "operation outcome",
		"Requests to the brokers: `ok`, `refused` (retrying would not help) or `retried`.",
		func(r *reading, out output) {
			for _, stats := range r.requests {
				out.count(int64(stats.OK), stats.Operation, "ok")
				out.count(int64(stats.Refused), stats.Operation, "refused")
				out.count(int64(stats.Failed), stats.Operation, "retried")
			}
		}},
	{"broker_fetches_waiting", gauge, "", "",
		"Fetches that wait for memory (`kafka.fetch_memory`). If it stays above 0, records come faster than they are handled, or something that holds them is stuck.",
		one(func(r *reading) float64 { return float64(r.fetches.Waiting) })},
	{"broker_request_duration_seconds", histograms, "seconds", "operation",
		"Time of requests to the brokers, including a fetch's wait for records.",
		func(r *reading, out output) {
			for _, stats := range r.requests {
				out.times(stats.Seconds, stats.Operation)
			}
		}},

	{"broker_writers_total", counter, "", "protection",
		"Writers opened, one per partition that a stage takes over: `fenced` (brokers refuse late writes of an earlier owner and write a repeated request once), `numbered` (only the latter) or `none`; the log says why.",
		func(r *reading, out output) {
			for i, n := range r.writers {
				out.count(int64(n), string(pipeline.Protections[i]))
			}
		}},

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
		"Under criterion adaptive, the lowest loss on held-out rows on the way to the set in use, as a share of the variance of the outputs: of what `residual` chooses, of the rounds (`round`), of the refinement steps (`step`). The lowest of all became the set. It is a minimum, not an estimate of the error on new rows.",
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
	{"feature_set_churn_ratio", gauge, "ratio", "",
		"Share of the features in use that the previous set (the next lower sequence number on the topic) did not have; absent without one. A feature is the same if it is the same draw, whatever its bandwidth; another seed, map, sampler or set of columns is a churn of 1.",
		one(func(r *reading) float64 { return r.churn })},

	// Requests to `featurizer serve`.
	{"serve_requests_total", counter, "", "endpoint outcome",
		"Requests to `featurizer serve`, by endpoint (`predict`, `features`, `infer`) and outcome: `answered`; `invalid`, not rows of the feature set; `too_large`, over a limit; `unauthorized`; `busy`, no room or no turn in time; `unavailable`, nothing to serve yet; `failed`, a fault or a client that disconnected.",
		func(r *reading, out output) {
			for endpoint, outcomes := range r.Activity.Serving.Requests {
				for outcome, n := range outcomes {
					out.count(n, endpoint, outcome)
				}
			}
		}},
	{"serve_rows_total", counter, "", "endpoint outcome", "Rows in answered requests: `used` or `rejected`.",
		func(r *reading, out output) {
			for endpoint, rows := range r.Activity.Serving.Rows {
				rejected := r.Activity.Serving.Rejected[endpoint]
				out.count(rows-rejected, endpoint, "used")
				out.count(rejected, endpoint, "rejected")
			}
		}},
	{"serve_request_seconds", histograms, "seconds", "endpoint", "Time of answered requests, from their headers to their last byte.",
		func(r *reading, out output) {
			for endpoint, times := range r.Activity.Serving.Seconds {
				out.times(times, endpoint)
			}
		}},
	{"serve_requests_in_flight", gauge, "", "", "Requests for rows that `featurizer serve` is answering.",
		one(func(r *reading) float64 { return float64(r.Activity.Serving.InHand) })},
	{"serve_swaps_total", counter, "", "", "Times that `featurizer serve` changed to another pair of feature set and model.",
		func(r *reading, out output) { out.count(r.Activity.Serving.Swaps) }},
	{"serve_waiting", gauge, "", "",
		"1 while `featurizer serve` does not serve what is in use, such as a feature set without a model; its `/readyz` says why.",
		one(func(r *reading) float64 { return truth(r.Activity.Serving.Waiting != "") })},

	// Models, from the process that trains.
	{"model_info", gauge, "", "model feature_set loss",
		"1, with the id of the model in use. The process that trains serves this and the other model metrics.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(1, m.ID, m.FeatureSetID, m.Model.Loss)
			}
		}},
	{"model_timestamp_seconds", gauge, "seconds", "", "When the model in use was trained.",
		of(model, func(m *wire.Model) float64 { return timestamp(m.TrainedAt) })},
	{"model_training_rows", gauge, "", "", "Rows on which the model in use was fitted.",
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
		"Held-out error of a constant prediction, in the main measure of the model in use: the misclassification of the most common class, or the unexplained variance of the mean, which is 1.",
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
		"With two classes, how often the model in use gave a held-out row of the second a larger output than one of the first, ties counting half.",
		of(model, func(m *wire.Model) float64 { return figure(m.Metrics.AUC) })},
	{"model_average_precision_ratio", gauge, "ratio", "class",
		"Average precision of the model in use on held-out rows, if one of two classes has less than a tenth of them, for that class.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(figure(m.Metrics.AveragePrecision), m.Metrics.RareClass)
			}
		}},
	{"model_recall_ratio", gauge, "ratio", "class",
		"Share of a class's held-out rows that the model in use assigned to it when it was trained, for the first 50 classes.",
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
		"How far the probabilities of the model in use were from the observed shares on held-out rows: the mean over ten bins, weighted by rows.",
		of(model, func(m *wire.Model) float64 { return figure(m.Metrics.CalibrationError()) })},
	{"model_rmse", gauge, "", "output",
		"Root mean squared error of the model in use on held-out rows when it was trained, in units of the label, by number of the output.",
		byOutput(func(m *wire.Model) []float64 { return m.Metrics.RMSE })},
	{"model_mae", gauge, "", "output",
		"Mean absolute error of the model in use on held-out rows when it was trained, in units of the label, by number of the output.",
		byOutput(func(m *wire.Model) []float64 { return m.Metrics.MAE })},
	{"model_row_share_ratio", gauge, "ratio", "",
		"Share of the training rows, by their hash, from which the model in use was made: below 1 if those of the logistic loss did not fit into `train.row_memory`.",
		of(model, func(m *wire.Model) float64 {
			if m.Metrics.RowShare == 0 {
				return 1
			}
			return m.Metrics.RowShare
		})},
	{"model_held_out_seen_ratio", gauge, "ratio", "",
		"Approximate share of the model's held-out rows from which the frequencies of its feature set were learned; its error may be too low because of it. 0 if held-out rows come from other events, or nothing was learned.",
		of(model, func(m *wire.Model) float64 {
			if m.Metrics.Seen == nil {
				return 0
			}
			return m.Metrics.Seen.Share
		})},
	{"model_challenger_timestamp_seconds", gauge, "seconds", "", "When the newest model was trained, whether or not it is in use.",
		one(func(r *reading) float64 { return timestamp(r.Activity.Challenges.At) })},
	{"model_challengers_total", counter, "", "verdict",
		"Models trained, by verdict: those that replaced the one in use, and those that did not.",
		func(r *reading, out output) {
			for _, verdict := range wire.Verdicts() {
				out.count(r.Activity.Challenges.Verdicts[verdict], string(verdict))
			}
		}},
	{"model_compared_error_ratio", gauge, "ratio", "model measure",
		"Error of the newest model (`challenger`) and of the one then in use (`incumbent`) on the same held-out rows.",
		func(r *reading, out output) {
			if last := compared(r); last != nil {
				out.value(ratio(last.ChallengerError), "challenger", last.Measure)
				out.value(ratio(last.IncumbentError), "incumbent", last.Measure)
			}
		}},
	{"model_compared_rows", gauge, "", "", "Held-out rows on which the newest model and the one then in use were compared.",
		of(compared, func(j *wire.Judgement) float64 { return float64(j.Rows) })},
	{"model_pinned", gauge, "", "", "1 while the model in use is pinned by a rollback.",
		one(func(r *reading) float64 { return truth(r.Activity.Challenges.Pin != "") })},

	// The process.
	{"memory_limit_bytes", gauge, "bytes", "",
		"Resident memory that the process may take: as configured, or its container's limit; absent without a limit. Compare `process_resident_memory_bytes`, what it takes, and `go_gc_gomemlimit_bytes`, what the Go runtime aims at.",
		one(func(r *reading) float64 { return where(r.process.MemoryLimit > 0, float64(r.process.MemoryLimit)) })},
	{"memory_worst_case_bytes", gauge, "bytes", "", "Memory that the process may need at worst, by its configuration.",
		one(func(r *reading) float64 {
			return where(r.process.MemoryWorstCase > 0, float64(r.process.MemoryWorstCase))
		})},
	{"memory_budget_bytes", gauge, "bytes", "setting",
		"Memory that a setting of the process's stages allows: `exploration.candidate_memory` (the candidates that are kept), `exploration.sample_memory`, `train.row_memory` if classes may be trained on, and in every process `kafka.fetch_memory`.",
		ofBudgets(func(b meter.Budget) int64 { return b.Limit })},
	{"memory_budget_used_bytes", gauge, "bytes", "setting", "Memory in use under a setting.",
		ofBudgets(func(b meter.Budget) int64 { return b.Used })},
	{"build_info", gauge, "", "version revision kernel", "1, with the build and numeric kernel of the process.",
		func(r *reading, out output) {
			out.value(1, r.process.Version, r.process.Revision, scoring.Arithmetic())
		}},
}

// Sources shared by similar metrics.

// one is a metric with a single value.
func one(value func(r *reading) float64) source {
	return func(r *reading, out output) { out.value(value(r)) }
}

// of is a value of a part that may be missing.
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

// current is the reading if a feature set is in use, otherwise nil.
func current(r *reading) *reading {
	if r.set == nil {
		return nil
	}
	return r
}

// drawn is the reading if the features of the set in use are drawn candidates, otherwise nil.
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

// leastLosses are the least losses on held-out rows during the learning of a set, by kind.
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

// compared is the newest judgement if it compares two models.
func compared(r *reading) *wire.Judgement {
	if last := r.Activity.Challenges.Last; last != nil && last.Compared() {
		return last
	}
	return nil
}

// written counts what the stages have written, for those that count it.
func written(count func(t meter.Traffic) int64) source {
	return func(r *reading, out output) {
		for _, stage := range []string{meter.StageSubsample, meter.StageFeaturize} {
			out.count(count(r.Activity.Traffic[stage]), stage)
		}
	}
}

// ofPartitions is a value for each partition that a stage reads.
func ofPartitions(value func(p meter.PartitionStatus) float64) source {
	return func(r *reading, out output) {
		for _, p := range r.Partitions {
			out.value(value(p), p.Stage, strconv.Itoa(p.Partition))
		}
	}
}

// ofScored is a value for each partition that subsample reads.
func ofScored(value func(p meter.PartitionStatus) float64) source {
	return func(r *reading, out output) {
		for _, p := range r.Partitions {
			if p.Stage == meter.StageSubsample {
				out.value(value(p), strconv.Itoa(p.Partition))
			}
		}
	}
}

// endKnown reports whether the end of a partition is known.
func endKnown(p meter.PartitionStatus) bool { return p.EndOffset > 0 || !p.FetchedAt.IsZero() }

// ofGroups is a value for the consumer group of each stage.
func ofGroups(value func(g pipeline.GroupStatus) float64) source {
	return func(r *reading, out output) {
		for stage, group := range r.Groups {
			out.value(value(group), stage)
		}
	}
}

// budgetFetches is the setting of the memory of fetched records.
const budgetFetches = "kafka.fetch_memory"

// ofBudgets is a value for each budget.
func ofBudgets(bytes func(b meter.Budget) int64) source {
	return func(r *reading, out output) {
		for _, b := range r.Activity.Budgets {
			out.count(bytes(b), b.Setting)
		}
		if f := r.fetches; f.Limit > 0 {
			out.count(bytes(meter.Budget{Used: f.Used, Limit: f.Limit}), budgetFetches)
		}
	}
}

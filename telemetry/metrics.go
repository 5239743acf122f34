package telemetry

import (
	"maps"
	"slices"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// metrics is the table of metrics. With -update, the test of this package derives testdata from it.
var metrics = slices.Concat(stageMetrics, setMetrics, modelMetrics, liveMetrics)

// stageMetrics cover messages, partitions, groups and the process.
var stageMetrics = []metric{
	// Handled messages and rows, by stage. Every combination of labels exists from the start, at 0.
	// Otherwise the first event of a kind would have no rate, because Prometheus only sees a
	// counter grow from an earlier value.
	{
		"rows_total",
		counter,
		"",
		"stage outcome",
		"Rows by outcome; each has one outcome per stage. Calibrate: `read`; subsample: `scored`, `not_sampled`, `unlabelled`, `rejected`; featurize: `featurized`, `rejected`; train: `trained`, `unlabelled`, `duplicate`.",
		func(r *reading, out output) {
			t := r.Totals
			out.of(meter.StageCalibrate).count(t.Calibrate.Rows, "read")
			out.of(meter.StageSubsample).count(t.Scoring.Scored, "scored")
			out.of(meter.StageSubsample).count(t.Scoring.NotSampled, "not_sampled")
			out.of(meter.StageSubsample).count(t.Scoring.Unlabelled, "unlabelled")
			out.of(meter.StageSubsample).count(t.Scoring.Rejected, "rejected")
			out.of(meter.StageFeaturize).count(t.Featurize.Featurized, "featurized")
			out.of(meter.StageFeaturize).count(t.Featurize.Rejected, "rejected")
			out.of(meter.StageTrain).count(t.Train.Rows, "trained")
			out.of(meter.StageTrain).count(t.Train.Unlabelled, "unlabelled")
			out.of(meter.StageTrain).count(t.Train.Rejected, "rejected")
			out.of(meter.StageTrain).count(t.Train.UnseenClass, "unseen_class")
			out.of(meter.StageTrain).count(t.Train.Duplicate, "duplicate")
		},
	},
	{
		"messages_total",
		counter,
		"",
		"stage outcome",
		"Messages read, by outcome: `used`, `undecodable`, for stages that read events `tombstone` (a null value, which has no rows), and for train `other_set` (of another feature set than the one trained on).",
		func(r *reading, out output) {
			t := r.Totals
			c := t.Calibrate
			out.of(meter.StageCalibrate).events(c.Messages, c.Undecodable, c.Tombstones)
			s := t.Scoring
			out.of(meter.StageSubsample).events(s.Messages, s.Undecodable, s.Tombstones)
			f := t.Featurize
			out.of(meter.StageFeaturize).events(f.Messages, f.Undecodable, f.Tombstones)
			out.of(meter.StageTrain).outcomes(t.Train.Messages-t.Train.OtherSet-t.Train.Undecodable, t.Train.Undecodable)
			out.of(meter.StageTrain).count(t.Train.OtherSet, "other_set")
		},
	},
	{"message_bytes_total", counter, "bytes", "stage outcome",
		"Bytes of the messages read (keys, values, headers), by outcome.",
		func(r *reading, out output) {
			for _, stage := range []meter.Stage{
				meter.StageCalibrate,
				meter.StageSubsample,
				meter.StageFeaturize,
				meter.StageTrain,
			} {
				out.of(stage).outcomes(r.Activity.Traffic[stage].UsedBytes, r.Activity.Traffic[stage].UndecodableBytes)
			}
			out.of(meter.StageTrain).count(r.Activity.Traffic[meter.StageTrain].OtherSetBytes, "other_set")
		}},
	{"output_messages_total", counter, "", "stage",
		"Messages written and acknowledged: features by featurize, sampled rows by subsample.",
		written(func(t meter.Traffic) int64 { return t.OutputMessages })},
	{"output_bytes_total", counter, "bytes", "stage", "Bytes of the messages written and acknowledged.",
		written(func(t meter.Traffic) int64 { return t.OutputBytes })},
	{
		"encoded_values_total",
		counter,
		"",
		"stage treatment",
		"Values that the encoder changed: nulls `imputed`, categories without a dimension of their own (`unseen_category`), numbers `clipped`. If it grows, the data drift from calibration's.",
		func(r *reading, out output) {
			s, f := r.Totals.Scoring, r.Totals.Featurize
			out.of(meter.StageSubsample).count(s.Imputed, "imputed")
			out.of(meter.StageSubsample).count(s.UnseenCategory, "unseen_category")
			out.of(meter.StageSubsample).count(s.Clipped, "clipped")
			out.of(meter.StageFeaturize).count(f.Imputed, "imputed")
			out.of(meter.StageFeaturize).count(f.UnseenCategory, "unseen_category")
			out.of(meter.StageFeaturize).count(f.Clipped, "clipped")
		},
	},
	{
		"column_values_total",
		counter,
		"",
		"column",
		"Values of a feature column in events since the feature set became current, for the 100 columns whose imputed share exceeds calibration's most.",
		ofColumns(func(c meter.Imputed) float64 { return float64(c.Values) }),
	},
	{"column_imputed_total", counter, "", "column", "Missing values of these columns, which were imputed.",
		ofColumns(func(c meter.Imputed) float64 { return float64(c.Imputed) })},
	{"column_missing_ratio", gauge, "", "column", "Share of missing values of these columns in calibration.",
		ofColumns(func(c meter.Imputed) float64 { return c.Expected })},
	{
		"unknown_field_rows_total",
		counter,
		"",
		"field",
		"Rows of events with a field unknown to the current feature set, for at most 64 fields; the field is ignored until another exploration.",
		func(r *reading, out output) {
			for _, f := range r.Activity.Columns.NewFields {
				out.count(f.Rows, f.Field)
			}
		},
	},
	{
		"unseen_class_rows_total",
		counter,
		"",
		"stage",
		"Rows of classes that are neither configured nor seen by the exploration: not scored, not trained on. The log and the status page name the classes; metrics do not, as names are data.",
		func(r *reading, out output) {
			out.of(meter.StageSubsample).count(r.Totals.Scoring.UnseenClass)
			out.of(meter.StageFeaturize).count(r.Totals.Featurize.UnseenClass)
		},
	},
	{
		"class_requests_total",
		counter,
		"",
		"",
		"Explorations that a featurize process requested because a class unknown to the newest one reached `events.class_min_rows` rows.",
		func(r *reading, out output) { out.count(r.Activity.ClassRequests) },
	},
	{
		"ignored_event_times_total",
		counter,
		"",
		"",
		"Messages of events whose time lies outside the years 1970 to 9999 or more than `events.max_ahead` after the time of appending: they are featurized as messages without a time.",
		func(r *reading, out output) { out.count(r.Activity.IgnoredTimes) },
	},
	{
		"prediction_rows_total",
		counter,
		"",
		"outcome",
		"With `featurize.predictions`, rows `predicted`, and rows without a prediction: `no_model`, `other_feature_set`, `unusable_model`.",
		func(r *reading, out output) {
			f := r.Totals.Featurize
			out.count(f.Predicted, "predicted")
			out.count(f.NoModel, "no_model")
			out.count(f.OtherSetModel, "other_feature_set")
			out.count(f.UnusableModel, "unusable_model")
		},
	},
	{
		"missing_offsets_total",
		counter,
		"",
		"",
		"Offsets of events that retention removed before they were featurized, that were lost in a truncated or recreated log, or that an operator skipped by resetting the group.",
		func(r *reading, out output) { out.count(r.Totals.Featurize.MissingOffsets) },
	},
	{
		"undecodable_records_total",
		counter,
		"",
		"topic",
		"Undecodable records under the pipeline's own keys of a control topic, and records of `live` that are no blocks of existing rows, which are ignored; counted each time one is read.",
		func(r *reading, out output) {
			for t, n := range r.State.Undecodable {
				topic := r.topics.Name(state.Topic(t))
				out.count(n+r.Activity.Undecodable[topic], topic)
			}
			out.count(r.Activity.Undecodable[r.live], r.live)
		},
	},
	{
		"log_changes_total",
		counter,
		"",
		"topic kind",
		"Topics found `recreated` (deleted and created again) or `truncated` (without their last records), once per partition and reader that noticed it.",
		func(r *reading, out output) {
			changes := maps.Clone(r.Activity.LogChanges)
			if changes == nil {
				changes = map[meter.LogChange]int64{}
			}
			for t, n := range r.State.Recreated {
				changes[meter.LogChange{Topic: r.topics.Name(state.Topic(t)), Kind: string(pipeline.GapRecreated)}] += n
				changes[meter.LogChange{
					Topic: r.topics.Name(state.Topic(t)),
					Kind:  string(pipeline.GapTruncated),
				}] += r.State.Truncated[t]
			}
			for change, n := range changes {
				out.count(n, change.Topic, change.Kind)
			}
		},
	},
	{"dead_letters_total", counter, "", "stage reason",
		"Dead letters sent: refused messages, and messages with rejected rows (by the reason of the first).",
		func(r *reading, out output) {
			sent := map[meter.Cause]int64{}
			for _, stage := range stages.Names() {
				for _, reason := range deadletter.Reasons(stage) {
					sent[meter.Cause{Stage: stage, Reason: reason}] = 0
				}
			}
			maps.Copy(sent, r.Activity.DeadLetters)
			for cause, n := range sent {
				out.of(cause.Stage).count(n, cause.Reason)
			}
		}},
	{"stage_busy_seconds_total", counter, "seconds", "stage",
		"Busy time of a stage, summed over its partitions: its rate is about the number of cores in use.",
		func(r *reading, out output) {
			for _, stage := range stages.Names() {
				out.of(stage).value(r.Totals.Seconds[stage])
			}
		}},
	{
		"message_handling_seconds",
		histograms,
		"seconds",
		"stage",
		"Time from starting on a message until it is scored, its features are made or it is added to the sums; for features including the time in which the broker could not take them.",
		func(r *reading, out output) {
			for stage, times := range r.Activity.Handling {
				out.of(stage).times(times)
			}
		},
	},
	{"feature_delay_seconds", histograms, "seconds", "",
		"Time from the timestamp of an event message to the acknowledgement of its features.",
		func(r *reading, out output) { out.times(r.Activity.Delay) }},

	// The position of the stages in the partitions that the process reads.
	{
		"lag_seconds",
		gauge,
		"seconds",
		"stage partition",
		"Age, by the time of its event, of the first unprocessed message (not scored; features not acknowledged; not added to the sums of training); 0 without one. For subsample only while a partition is read for an exploration. Train reads `features` every `train.interval`, and falls that far behind in between.",
		ofPartitions(func(p meter.PartitionStatus) float64 { return where(!p.FetchedAt.IsZero(), p.Lag.Seconds()) }),
	},
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
	{
		"unsaved_rows",
		gauge,
		"",
		"partition",
		"Scored rows of a partition that are not in a checkpoint yet and would be read again.",
		ofScored(func(p meter.PartitionStatus) float64 { return float64(p.UnsavedRows) }),
	},

	// Consumer groups and the broker.
	{"group_joined", gauge, "", "stage",
		"1 while the process is a member of the stage's consumer group, with partitions or without.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return truth(g.Joined) })},
	{"group_joins_total", counter, "", "stage",
		"Joins of the stage's consumer group by the process: the first one, and one per rebalance.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return float64(g.Joins) })},
	{"owned_partitions", gauge, "", "stage", "Partitions assigned to the process.",
		ofGroups(func(g pipeline.GroupStatus) float64 { return float64(len(g.Partitions)) })},
	{
		"stage_wrong_kernel",
		gauge,
		"",
		"stage",
		"1 while a stage that scores or selects has released its partitions because the exploration is for another numeric kernel; `/readyz` and the log name it.",
		func(r *reading, out output) {
			for stage, why := range r.Activity.WrongKernel {
				out.of(stage).value(truth(why != ""))
			}
		},
	},
	{
		"stage_partitions_quarantined",
		gauge,
		"",
		"stage",
		"Partitions that the process has quarantined because their work fails persistently; it retries them at intervals, other partitions are unaffected. `/readyz`, the status page and the log name the partitions and the errors.",
		func(r *reading, out output) {
			quarantined := map[meter.Stage]float64{}
			for _, stage := range stages.Names() {
				if stage != meter.StageCalibrate { // plans exclude such partitions
					quarantined[stage] = 0
				}
			}
			for _, q := range r.Activity.Quarantined {
				quarantined[q.Stage]++
			}
			for stage, partitions := range quarantined {
				out.of(stage).value(partitions)
			}
		},
	},
	{"broker_requests_total", counter, "", "operation outcome",
		"Requests to the brokers: `ok`, `refused` (retrying would not help) or `retried`.",
		func(r *reading, out output) {
			for _, stats := range r.requests {
				out.count(int64(stats.OK), stats.Operation, "ok")
				out.count(int64(stats.Refused), stats.Operation, "refused")
				out.count(int64(stats.Failed), stats.Operation, "retried")
			}
		}},
	{
		"broker_fetches_waiting",
		gauge,
		"",
		"",
		"Fetches that wait for memory (`kafka.fetch_memory`). If it stays above 0, records come faster than they are handled, or a holder of fetched records is stuck.",
		one(func(r *reading) float64 { return float64(r.fetches.Waiting) }),
	},
	{"broker_request_duration_seconds", histograms, "seconds", "operation",
		"Time of requests to the brokers, including a fetch's wait for records.",
		func(r *reading, out output) {
			for _, stats := range r.requests {
				out.times(stats.Seconds, stats.Operation)
			}
		}},

	{
		"broker_writers_total",
		counter,
		"",
		"protection",
		"Writers opened, one per partition that a stage takes over: `fenced` (brokers refuse late writes of an earlier owner and write a repeated request once), `numbered` (only the latter) or `none`; the log names the reason.",
		func(r *reading, out output) {
			for i, n := range r.writers {
				out.count(int64(n), string(pipeline.Protections[i]))
			}
		},
	},

	// The process.
	{
		"memory_limit_bytes",
		gauge,
		"bytes",
		"",
		"Resident memory that the process may take: as configured, or its container's limit; absent without a limit. Compare `process_resident_memory_bytes`, its current memory, and `go_gc_gomemlimit_bytes`, the target of the Go runtime.",
		one(func(r *reading) float64 { return where(r.process.MemoryLimit > 0, float64(r.process.MemoryLimit)) }),
	},
	{"memory_worst_case_bytes", gauge, "bytes", "", "Worst-case memory of the process, by its configuration.",
		one(func(r *reading) float64 {
			return where(r.process.MemoryWorstCase > 0, float64(r.process.MemoryWorstCase))
		})},
	{
		"memory_budget_bytes",
		gauge,
		"bytes",
		"setting",
		"Memory limit of a setting of the process's stages: `exploration.candidate_memory` (kept candidates), `exploration.sample_memory`, `train.row_memory` if classes may be trained on, and in every process `kafka.fetch_memory`.",
		ofBudgets(func(b meter.Budget) int64 { return b.Limit }),
	},
	{"memory_budget_used_bytes", gauge, "bytes", "setting", "Memory currently used under a setting.",
		ofBudgets(func(b meter.Budget) int64 { return b.Used })},
	{"build_info", gauge, "", "version revision kernel", "1, with the build and numeric kernel of the process.",
		func(r *reading, out output) {
			out.value(1, r.process.Version, r.process.Revision, scoring.Arithmetic())
		}},
}

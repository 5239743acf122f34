package telemetry

import "github.com/prometheus/client_golang/prometheus"

// namespace begins the name of every metric of this module.
const namespace = "eerf"

// definitions has every metric that the collector sends.
var definitions []*prometheus.Desc

// define adds a metric to the definitions.
func define(name, help string, labels ...string) *prometheus.Desc {
	desc := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	definitions = append(definitions, desc)
	return desc
}

// What was handled, by stage.
var (
	rowsTotal = define("rows_total",
		"Rows, by what became of them; each has one outcome in a stage.", "stage", "outcome")
	messagesTotal = define("messages_total",
		"Messages read, by what became of them.", "stage", "outcome")
	messageBytesTotal = define("message_bytes_total",
		"Bytes of the messages read (keys, values, headers), by what became of the messages.", "stage", "outcome")
	outputMessagesTotal = define("output_messages_total",
		"Messages of features that were acknowledged.", "stage")
	outputBytesTotal = define("output_bytes_total",
		"Bytes of the messages of features that were acknowledged.", "stage")
	encodedValuesTotal = define("encoded_values_total",
		"Values that the encoder did not take as they are: nulls imputed, categories that calibration did not see, numbers clipped.",
		"stage", "treatment")
	unseenClassRowsTotal = define("unseen_class_rows_total",
		"Rows of classes that are neither configured nor were seen in calibration: not scored, not trained on.", "stage")
	missingOffsetsTotal = define("missing_offsets_total",
		"Offsets of events that retention removed before they were featurized.")
	predictionRowsTotal = define("prediction_rows_total",
		"Rows featurized with predictions attached, by whether there was one, and why not.", "outcome")
	deadLettersTotal = define("dead_letters_total",
		"Dead letters sent: refused messages, and messages with rejected rows (by the reason of the first).", "stage", "reason")
	busySecondsTotal = define("stage_busy_seconds_total",
		"Time that a stage worked, summed over its partitions.", "stage")
	handlingSeconds = define("message_handling_seconds",
		"Time from taking a message in hand to having handled it.", "stage")
	delaySeconds = define("feature_delay_seconds",
		"Time from the timestamp of an event message to the acknowledgement of its features.")
)

// Where the stages stand in the partitions that the process reads.
var (
	lagSeconds = define("lag_seconds",
		"Age, by its timestamp, of the first message that is not processed; 0 when all are.", "stage", "partition")
	lagMessages = define("lag_messages",
		"Offsets between the first message that is not processed and the end of the log.", "stage", "partition")
	lagRows = define("lag_rows",
		"Rows in the messages that are not processed, estimated by the rows of a message so far.", "stage", "partition")
	nextOffset = define("next_offset",
		"Offset of the first message that is not processed.", "stage", "partition")
	fetchTimestamp = define("last_fetch_timestamp_seconds",
		"When the broker last answered a request for messages.", "stage", "partition")
	checkpointTimestamp = define("checkpoint_timestamp_seconds",
		"When the newest checkpoint of an open partition was written.", "partition")
	unsavedRows = define("unsaved_rows",
		"Rows of an open partition that are in no checkpoint yet and would be read again.", "partition")
)

// Consumer groups and the broker.
var (
	groupJoined = define("group_joined",
		"1 while the process is a member of the stage's consumer group, with partitions or without.", "stage")
	groupJoinsTotal = define("group_joins_total",
		"Times that the process joined the stage's consumer group: the first time, and at every rebalance.", "stage")
	ownedPartitions = define("owned_partitions",
		"Partitions assigned to the process.", "stage")
	brokerRequestsTotal = define("broker_requests_total",
		"Requests to the broker: ok, refused (asking again would not help), or retried.", "operation", "outcome")
	brokerRequestSeconds = define("broker_request_duration_seconds",
		"Time of requests to the broker; a fetch waits there while nothing comes.", "operation")
)

// Explorations and feature sets.
var (
	explorationRunning = define("exploration_running",
		"1 while an exploration is under way.")
	explorationSequence = define("exploration_sequence",
		"Sequence number of the newest exploration.")
	explorationPass = define("exploration_pass",
		"Passes over the rows that the running exploration has behind it (criterion residual).")
	explorationPlanned = define("exploration_planned_timestamp_seconds",
		"When the newest exploration was planned.")
	explorationDeadline = define("exploration_deadline_timestamp_seconds",
		"When the running exploration is closed with the rows that it has; absent without a deadline.")
	explorationMissingRows = define("exploration_missing_rows",
		"Rows that the running exploration has yet to score, as far as checkpoints tell; from the process that selects.")
	featureSetInfo = define("feature_set_info",
		"The feature set in use; the value is 1.", "feature_set", "exploration", "criterion")
	featureSetTimestamp = define("feature_set_timestamp_seconds",
		"When the feature set in use was made current.")
	featureSetSequence = define("feature_set_sequence",
		"Sequence number of the exploration that the feature set in use came from.")
	featureSetFeatures = define("feature_set_features",
		"Features in the set in use (M).")
	featureSetRows = define("feature_set_scored_rows",
		"Rows that the feature set in use was selected by.")
	featureSetRadius = define("feature_set_confidence_radius",
		"Confidence radius of the scores of the set in use (Hoeffding, for bounded feature maps).")
	featureSetLargeSampleRadius = define("feature_set_large_sample_confidence_radius",
		"Greatest large-sample confidence radius among the features of the set in use, for unbounded feature maps.")
	featureSetAboveNoise = define("feature_set_features_above_noise",
		"Features of the set in use whose score is above the noise level.")
	featureSetCutoff = define("feature_set_cutoff_score",
		"Criterion value of the last feature that was kept.")
	featureSetChurn = define("feature_set_churn_ratio",
		"Share of the features in use that the set before did not have; absent where that is not on the topic.")
)

// Models, from the process that trains.
var (
	modelInfo = define("model_info",
		"The model in use; the value is 1.", "model", "feature_set", "loss")
	modelTimestamp = define("model_timestamp_seconds",
		"When the model in use was trained.")
	modelRows = define("model_training_rows",
		"Rows that the model in use was fitted on.")
	modelError = define("model_error_ratio",
		"Held-out error of the model in use when it was trained, 1 being 100 %.", "measure")
	modelConstantError = define("model_constant_error_ratio",
		"Held-out error of the best constant prediction, in the main measure of the model in use.")
	modelPinned = define("model_pinned",
		"1 while the model in use is pinned by a rollback.")
	modelChallengersTotal = define("model_challengers_total",
		"Models that were trained, by the verdict on each: those that took the place of the one in use, and those that did not.", "verdict")
	modelChallengerTimestamp = define("model_challenger_timestamp_seconds",
		"When the newest model was trained, whether or not it is in use.")
	modelComparedError = define("model_compared_error_ratio",
		"Error of the newest model (challenger) and of the one that was in use (incumbent) on the same held-out rows, 1 being 100 %.",
		"model", "measure")
	modelComparedRows = define("model_compared_rows",
		"Held-out rows that these two were compared on.")
)

// The process.
var (
	buildInfo = define("build_info",
		"What the process was built from and computes with; the value is 1.", "version", "revision", "kernel")
	memoryLimit = define("memory_limit_bytes",
		"Resident memory that the process may take: as configured, or the limit of its container; absent without a limit.")
	budgetLimit = define("memory_budget_bytes",
		"Memory that the setting named by the label allows.", "setting")
	budgetUsed = define("memory_budget_used_bytes",
		"Memory in use of what the setting named by the label allows.", "setting")
	memoryWorstCase = define("memory_worst_case_bytes",
		"Memory that the process may need at the worst, by its configuration.")
)

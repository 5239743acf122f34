package telemetry

import "github.com/eerf-stream/eerf/stages"

// Outcomes of messages and of rows, as label values. Those of rows in a stage add up to its rows.
const (
	outcomeUsed        = "used"
	outcomeUndecodable = "undecodable"
	outcomeOtherSet    = "other_set" // of a feature set other than the one trained on

	outcomeRead       = "read" // by calibration
	outcomeScored     = "scored"
	outcomeNotSampled = "not_sampled"
	outcomeUnlabelled = "unlabelled"
	outcomeRejected   = "rejected"
	outcomeFeaturized = "featurized"
	outcomeTrained    = "trained"
	outcomeDuplicate  = "duplicate"
)

// Count is how many rows, messages or bytes had an outcome in a stage.
type Count struct {
	Stage, Outcome string
	N              int64
}

// Rows tells what became of rows. Every outcome is there from the start, at 0; each row has one in a stage.
func Rows(t stages.Totals) []Count {
	return []Count{
		{stages.StageCalibrate, outcomeRead, t.Calibrate.Rows},
		{stages.StageSubsample, outcomeScored, t.Scoring.Scored},
		{stages.StageSubsample, outcomeNotSampled, t.Scoring.NotSampled},
		{stages.StageSubsample, outcomeUnlabelled, t.Scoring.Unlabelled},
		{stages.StageSubsample, outcomeRejected, t.Scoring.Rejected},
		{stages.StageFeaturize, outcomeFeaturized, t.Featurize.Featurized},
		{stages.StageFeaturize, outcomeRejected, t.Featurize.Rejected},
		{stages.StageTrain, outcomeTrained, t.Train.Rows},
		{stages.StageTrain, outcomeUnlabelled, t.Train.Unlabelled},
		{stages.StageTrain, outcomeDuplicate, t.Train.Duplicate},
	}
}

// Messages tells what became of the messages that were read, likewise.
func Messages(t stages.Totals) []Count {
	of := func(stage string, all, undecodable int64) []Count {
		return []Count{{stage, outcomeUsed, all - undecodable}, {stage, outcomeUndecodable, undecodable}}
	}
	counts := of(stages.StageCalibrate, t.Calibrate.Messages, t.Calibrate.Undecodable)
	counts = append(counts, of(stages.StageSubsample, t.Scoring.Messages, t.Scoring.Undecodable)...)
	counts = append(counts, of(stages.StageFeaturize, t.Featurize.Messages, t.Featurize.Undecodable)...)
	counts = append(counts, of(stages.StageTrain, t.Train.Messages-t.Train.OtherSet, t.Train.Undecodable)...)
	return append(counts, Count{stages.StageTrain, outcomeOtherSet, t.Train.OtherSet})
}

// Bytes tells what became of the bytes of those messages: of their keys, values and headers.
func Bytes(a stages.Activity) []Count {
	var counts []Count
	for _, stage := range []string{stages.StageCalibrate, stages.StageSubsample, stages.StageFeaturize, stages.StageTrain} {
		traffic := a.Traffic[stage]
		counts = append(counts, Count{stage, outcomeUsed, traffic.UsedBytes}, Count{stage, outcomeUndecodable, traffic.UndecodableBytes})
	}
	return append(counts, Count{stages.StageTrain, outcomeOtherSet, a.Traffic[stages.StageTrain].OtherSetBytes})
}

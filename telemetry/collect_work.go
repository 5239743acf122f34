package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/eerf-stream/eerf/stages"
)

func (s sink) counts(desc *prometheus.Desc, counts []Count) {
	for _, c := range counts {
		s.counter(desc, c.N, c.Stage, c.Outcome)
	}
}

// totals tells what became of rows and messages, and of the values in them.
func (s sink) totals(t stages.Totals) {
	s.counts(rowsTotal, Rows(t))
	s.counts(messagesTotal, Messages(t))
	s.encoded(stages.StageSubsample, t.Scoring.Imputed, t.Scoring.UnseenCategory, t.Scoring.Clipped, t.Scoring.UnseenClass)
	s.encoded(stages.StageFeaturize, t.Featurize.Imputed, t.Featurize.UnseenCategory, t.Featurize.Clipped, t.Featurize.UnseenClass)
	s.counter(missingOffsetsTotal, t.Featurize.MissingOffsets)
	for outcome, rows := range map[string]int64{
		"predicted": t.Featurize.Predicted, "no_model": t.Featurize.NoModel,
		"other_feature_set": t.Featurize.OtherSetModel, "unusable_model": t.Featurize.UnusableModel,
	} {
		s.counter(predictionRowsTotal, rows, outcome)
	}
}

func (s sink) encoded(stage string, imputed, unseenCategory, clipped, unseenClass int64) {
	s.counter(encodedValuesTotal, imputed, stage, "imputed")
	s.counter(encodedValuesTotal, unseenCategory, stage, "unseen_category")
	s.counter(encodedValuesTotal, clipped, stage, "clipped")
	s.counter(unseenClassRowsTotal, unseenClass, stage)
}

func (s sink) budgets(budgets []stages.Budget) {
	for _, b := range budgets {
		s.gauge(budgetLimit, float64(b.Limit), b.Setting)
		s.gauge(budgetUsed, float64(b.Used), b.Setting)
	}
}

// traffic tells of bytes, times and dead letters.
func (s sink) traffic(t stages.Totals, a stages.Activity) {
	s.counts(messageBytesTotal, Bytes(a))
	featurize := a.Traffic[stages.StageFeaturize]
	s.counter(outputMessagesTotal, featurize.OutputMessages, stages.StageFeaturize)
	s.counter(outputBytesTotal, featurize.OutputBytes, stages.StageFeaturize)
	for cause, n := range a.DeadLetters {
		s.counter(deadLettersTotal, n, cause.Stage, cause.Reason)
	}
	for _, stage := range stages.Stages() {
		s.seconds(busySecondsTotal, t.Seconds[stage], stage)
	}
	for stage, times := range a.Handling {
		s.histogram(handlingSeconds, times, stage)
	}
	s.histogram(delaySeconds, a.Delay)
}

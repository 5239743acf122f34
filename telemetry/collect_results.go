package telemetry

import (
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages"
)

// exploration tells of the newest exploration; of none, only that none runs.
func (s sink) exploration(state stages.State, missingRows int64) {
	running := state.Running()
	if running == nil {
		s.gauge(explorationRunning, 0)
	} else {
		s.gauge(explorationRunning, 1)
		s.gauge(explorationPass, float64(running.Pass))
		s.time(explorationDeadline, running.Deadline)
	}
	if missingRows >= 0 {
		s.gauge(explorationMissingRows, float64(missingRows))
	}
	if state.Spec != nil {
		s.gauge(explorationSequence, float64(state.Spec.Sequence))
		s.time(explorationPlanned, state.Spec.PlannedAt)
	}
}

// featureSet tells of the set in use, if there is one.
func (s sink) featureSet(state stages.State, churn float64, churnKnown bool) {
	current := state.CurrentSet()
	if current == nil {
		return
	}
	lineage := current.Set.Lineage
	s.gauge(featureSetInfo, 1, current.ID, state.Current.Exploration, lineage.Criterion.String())
	s.time(featureSetTimestamp, state.Current.Time)
	s.gauge(featureSetSequence, float64(state.Current.Sequence))
	s.gauge(featureSetFeatures, float64(current.Set.Set.Features.Len()))
	s.gauge(featureSetRows, float64(lineage.Rows))
	s.gauge(featureSetRadius, lineage.Radius)
	s.gauge(featureSetLargeSampleRadius, lineage.LargeSampleRadius)
	s.gauge(featureSetAboveNoise, float64(lineage.AboveNoise))
	s.gauge(featureSetCutoff, lineage.Cutoff)
	if churnKnown {
		s.gauge(featureSetChurn, churn)
	}
}

// model tells of the model in use, where the process knows one.
func (s sink) model(m *wire.Model) {
	if m == nil {
		return
	}
	s.gauge(modelInfo, 1, m.ID, m.FeatureSetID, m.Model.Loss)
	s.time(modelTimestamp, m.TrainedAt)
	s.gauge(modelRows, float64(m.TrainRows))
	for measure, percent := range map[string]*float64{
		"misclassification":      m.Metrics.Misclassification,
		"relative_squared_error": m.Metrics.RelativeSquaredError,
		"unexplained_variance":   m.Metrics.UnexplainedVariance,
	} {
		if percent != nil {
			s.gauge(modelError, *percent/100, measure)
		}
	}
	if constant := m.Metrics.ConstantError; constant != nil {
		s.gauge(modelConstantError, *constant/100)
	}
}

// challenges tells how the models that the process made stood against those in use, if it trains.
func (s sink) challenges(c stages.Challenges) {
	for _, verdict := range wire.Verdicts() {
		s.counter(modelChallengersTotal, c.Verdicts[verdict], string(verdict))
	}
	pinned := 0.0
	if c.Pin != "" {
		pinned = 1
	}
	s.gauge(modelPinned, pinned)
	s.time(modelChallengerTimestamp, c.At)
	if c.Last == nil || !c.Last.Compared() {
		return
	}
	s.gauge(modelComparedRows, float64(c.Last.Rows))
	s.gauge(modelComparedError, *c.Last.ChallengerError/100, "challenger", c.Last.Measure)
	s.gauge(modelComparedError, *c.Last.IncumbentError/100, "incumbent", c.Last.Measure)
}

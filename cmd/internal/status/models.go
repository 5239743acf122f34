package status

import (
	"context"
	"errors"
	"slices"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Bounds of what is read and kept of the models topic.
const (
	modelsRead  = 256
	modelsBytes = 64 << 20
	modelsShown = 100
)

// models follows the models of a pipeline.
type models struct {
	tail     tail
	decoder  *arrowio.Decoder
	pipeline string

	known   []Model // by the order of their records
	current *wire.Current
}

func newModels(log pipeline.Log, topic, pipelineName string, limits arrowio.Limits) *models {
	return &models{
		tail:    tail{log: log, topic: topic, first: modelsRead, most: modelsRead, bytes: modelsBytes},
		decoder: arrowio.NewDecoder(limits), pipeline: pipelineName,
	}
}

// look reads what came.
func (m *models) look(ctx context.Context, spans []span) error {
	var faults []error
	for partition, span := range spans {
		err := m.tail.read(ctx, partition, span.first, span.next, func(r pipeline.Record) {
			if err := m.apply(r); err != nil {
				faults = append(faults, err)
			}
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// apply takes a record in.
func (m *models) apply(r pipeline.Record) error {
	owner, id, current, ok := wire.ParseSetKey(r.Key)
	switch {
	case !ok || owner != m.pipeline || current && r.Value == nil:
		return nil
	case current:
		pointer, err := wire.DecodeCurrent(m.decoder, r.Value)
		if err == nil && (m.current == nil || pointer.Sequence >= m.current.Sequence) {
			m.current = pointer
		}
		return err
	}
	m.known = slices.DeleteFunc(m.known, func(known Model) bool { return known.ID == id })
	if r.Value == nil {
		return nil
	}
	decoded, err := wire.DecodeModel(m.decoder, r.Value)
	if err != nil {
		return err
	}
	if m.known = append(m.known, describeModel(decoded)); len(m.known) > modelsShown {
		m.known = slices.Clone(m.known[len(m.known)-modelsShown:])
	}
	return nil
}

// describeModel says of a model what is shown.
func describeModel(m *wire.Model) Model {
	shown := Model{
		ID: m.ID, FeatureSet: m.FeatureSetID, Sequence: m.Sequence, TrainedAt: m.TrainedAt, Rows: m.TrainRows,
		HeldOut: m.HeldOutRows, Loss: m.Model.Loss, Promoted: m.Promoted(), through: map[int]int64{},
	}
	if m.Judgement != nil {
		shown.Verdict = string(m.Judgement.Verdict)
	}
	for _, r := range m.Ranges {
		shown.through[int(r.Partition)] = max(shown.through[int(r.Partition)], r.NextOffset)
	}
	if m.Metrics.Misclassification != nil {
		shown.Measure, shown.Error, shown.Constant = "misclassification", m.Metrics.Misclassification, m.Metrics.ConstantError
		return shown
	}
	hundred := 100.0 // a constant leaves all of the variance unexplained
	shown.Measure, shown.Error, shown.Constant = "unexplained variance", m.Metrics.UnexplainedVariance, &hundred
	return shown
}

// list is the models, oldest first, with the one in use marked.
func (m *models) list() []Model {
	list := slices.Clone(m.known)
	for i := range list {
		list[i].Current = m.current != nil && list[i].ID == m.current.ID
	}
	return list
}

// modelOf is the model of a list that says most of a feature set: the one in use, else the newest that was promoted, else the
// newest.
func modelOf(list []Model, set string) *Model {
	var best *Model
	for i := range list {
		m := &list[i]
		if m.FeatureSet != set || best != nil && (best.Current || best.Promoted && !m.Promoted && !m.Current) {
			continue
		}
		best = m
	}
	return best
}

package status

import (
	"context"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

// modelsShown bounds the models that the page lists.
const modelsShown = 100

// inUse holds details that are shown of the current model only.
type inUse struct {
	model    string
	measures training.Measures
	next     map[int]int64 // by partition: offset of events up to which it was fitted
}

// lookAtModels takes over the known models. They are followed from the first poll on.
func (g *gatherer) lookAtModels(ctx context.Context, next *cluster) error {
	follower := g.service.Process.Env.State
	if err := follower.Ask(); err != nil {
		return err
	}
	models := follower.Snapshot().Models
	if entry, ok := models.CurrentEntry(); ok && entry.ID != g.inUse.model {
		model, err := follower.LoadModel(ctx, entry)
		if err != nil {
			return err
		}
		g.inUse = inUseOf(model)
	}
	next.models = listModels(models, g.inUse)
	return nil
}

func inUseOf(m *wire.Model) inUse {
	now := inUse{m.ID, m.Metrics.Measures, map[int]int64{}}
	for _, r := range m.Ranges {
		now.next[int(r.Partition)] = max(now.next[int(r.Partition)], r.NextOffset)
	}
	return now
}

// listModels lists the newest models and the current one, which is marked, oldest first.
func listModels(models state.Models, now inUse) []Model {
	list := []Model{}
	for _, entry := range models.Entries() {
		current := models.Current != nil && models.Current.ID == entry.ID
		if entry.Model == nil || len(list) >= modelsShown && !current {
			continue
		}
		shown := describeModel(entry.Model)
		shown.Current = current
		if current && now.model == entry.ID {
			shown.through, shown.Measures = now.next, now.measures
		}
		list = append(list, shown)
	}
	slices.Reverse(list)
	return list
}

// describeModel returns the page's description of a model.
func describeModel(m *wire.Model) Model {
	shown := Model{
		ID: m.ID, FeatureSet: m.FeatureSetID, Sequence: m.Sequence, TrainedAt: m.TrainedAt, Rows: m.TrainRows,
		HeldOut: m.Metrics.MeasuredRows, Loss: m.Model.Loss, Promoted: m.Promoted(),
	}
	if m.Metrics.Seen != nil {
		shown.SeenShare = m.Metrics.Seen.Share
	}
	if m.Judgement != nil {
		shown.Verdict = string(m.Judgement.Verdict)
	}
	shown.Measures = m.Metrics.Measures
	shown.Useless = m.Metrics.NoBetterThanConstant()
	shown.RowShare = m.Metrics.RowShare
	shown.HalfLife = m.Metrics.HalfLife
	measure, value, constant := m.Metrics.Main()
	shown.Measure, shown.Percent = training.MeasureTitle(measure), measure != training.MeasureLogLoss
	shown.Error, shown.Constant = value, constant
	return shown
}

// modelOf returns the most informative model of a feature set in a list: the current one, else the
// newest promoted one, else the newest.
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

package telemetry

import (
	"strconv"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Sources shared by similar metrics.

// one is a metric with a single value.
func one(value func(r *reading) float64) source {
	return func(r *reading, out output) { out.value(value(r)) }
}

// of is a value of an optional part.
func of[T any](part func(r *reading) *T, value func(t *T) float64) source {
	return func(r *reading, out output) {
		if t := part(r); t != nil {
			out.value(value(t))
		}
	}
}

func newest(r *reading) *wire.Spec { return r.State.Spec }

func model(r *reading) *wire.Model { return r.Activity.Model }

// recallClasses limits the classes whose recall is a series.
const recallClasses = 50

// byOutput is a figure of the current model for each output of its label.
func byOutput(figures func(m *wire.Model) []float64) source {
	return func(r *reading, out output) {
		if m := r.Activity.Model; m != nil {
			for k, v := range figures(m) {
				out.value(v, strconv.Itoa(k))
			}
		}
	}
}

// current is the reading if there is a current feature set, otherwise nil.
func current(r *reading) *reading {
	if r.set == nil {
		return nil
	}
	return r
}

// drawn is the reading if the features of the current set are drawn candidates, otherwise nil.
func drawn(r *reading) *reading {
	if r.set == nil || r.set.Lineage.Learned() {
		return nil
	}
	return r
}

// learning describes how the features of the current set were learned.
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

// written counts the output of the stages that record it.
func written(count func(t meter.Traffic) int64) source {
	return func(r *reading, out output) {
		for _, stage := range []meter.Stage{meter.StageSubsample, meter.StageFeaturize} {
			out.of(stage).count(count(r.Activity.Traffic[stage]))
		}
	}
}

// ofColumns counts values of the hundred columns with the most missing ones.
func ofColumns(value func(c meter.Imputed) float64) source {
	return func(r *reading, out output) {
		all := r.Activity.Columns.Imputed
		for _, c := range all[:min(len(all), 100)] {
			out.value(value(c), c.Column)
		}
	}
}

// ofPartitions is a value for each partition that a stage reads.
func ofPartitions(value func(p meter.PartitionStatus) float64) source {
	return func(r *reading, out output) {
		for _, p := range r.Partitions {
			out.of(p.Stage).value(value(p), strconv.Itoa(p.Partition))
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
			out.of(stage).value(value(group))
		}
	}
}

// budgetFetches is the setting for the memory of fetched records.
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

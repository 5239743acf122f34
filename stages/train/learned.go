package train

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// learnedFrom returns the events that a set was explored on, by partition. They taught it which features to take, drawn
// or learned: of many candidates the best fit also what is chance in these rows. Which of their rows were sampled is unknown here: features carry offsets, and rows are sampled by ordinal.
func learnedFrom(set *wire.FeatureSet) []wire.Span {
	var spans []wire.Span
	for _, part := range set.Lineage.Partitions {
		if part.NextOffset > part.StartOffset {
			spans = append(spans, wire.Span{Partition: part.Partition, StartOffset: part.StartOffset, NextOffset: part.NextOffset, Log: set.Lineage.EventsLog})
		}
	}
	return spans
}

// learned reports whether a row belongs to the events that the features were learned from.
func (t *Trainer) learned(id training.RowID) bool {
	return slices.ContainsFunc(t.learnedFrom, func(s wire.Span) bool { return s.Has(id) })
}

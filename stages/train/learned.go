package train

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// learnedFrom returns the events that the frequencies of a set were learned from, by partition; none if they were
// drawn. Which of their rows were sampled is unknown here: features carry offsets, and rows are sampled by ordinal.
func learnedFrom(set *wire.FeatureSet) []wire.Span {
	if !set.Lineage.Learned() {
		return nil
	}
	var spans []wire.Span
	for _, part := range set.Lineage.Partitions {
		if part.NextOffset > part.StartOffset {
			spans = append(spans, wire.Span{Partition: part.Partition, StartOffset: part.StartOffset, NextOffset: part.NextOffset, Log: set.Lineage.EventsLog})
		}
	}
	return spans
}

// learned reports whether a row belongs to the events that the frequencies were learned from.
func (t *Trainer) learned(id training.RowID) bool {
	return slices.ContainsFunc(t.learnedFrom, func(s wire.Span) bool { return s.Has(id) })
}

package train

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// learnedFrom returns the events on which a set was explored, by partition. The best of many
// candidates also fit the noise of these rows. The rows that were sampled among them are unknown
// here, because features carry offsets and rows are sampled by ordinal.
func learnedFrom(set *wire.FeatureSet) []wire.Span {
	var spans []wire.Span
	for _, part := range set.Lineage.Partitions {
		if part.NextOffset > part.StartOffset {
			spans = append(spans, wire.Span{
				Partition:   part.Partition,
				StartOffset: part.StartOffset,
				NextOffset:  part.NextOffset,
				Log:         set.Lineage.EventsLog,
			})
		}
	}
	return spans
}

// learned reports whether a row belongs to the events from which the features were learned.
func (t *Trainer) learned(id training.RowID) bool {
	return slices.ContainsFunc(t.learnedFrom, func(s wire.Span) bool { return s.Has(id) })
}

package train

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// learnedFrom returns the events on which a set was explored, by partition. The best of many
// candidates also fit the noise of these rows. The rows that were sampled among them are unknown
// here, because features carry offsets and rows are sampled by ordinal.
//
// There are none if the exploration left out the identities that judge.
func learnedFrom(set *wire.FeatureSet) []wire.Span {
	if leftOut(set) > 0 {
		return nil
	}
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

// leftOut returns the share of identities that the exploration's sample left out so that they can
// judge models, 0 if it left out none.
func leftOut(set *wire.FeatureSet) float64 {
	if set.Lineage.Identity.ByPlace() {
		return 0
	}
	return set.Lineage.Identity.HeldOutFraction
}

// judgeUnsampled restricts the rows that judge models to the identities that the exploration's
// sample left out, if it left out any.
func judgeUnsampled(config *Config, set *wire.FeatureSet) {
	if share := leftOut(set); share > 0 {
		config.HeldOutSeed = set.Lineage.Identity.HeldOutSeed
		config.HeldOutFraction = min(config.HeldOutFraction, share)
	}
}

// learned reports whether a row belongs to the events from which the features were learned.
func (t *Trainer) learned(id training.RowID) bool {
	if rule := t.set.Lineage.Identity; leftOut(t.set) > 0 && id.Below(rule.HeldOutSeed, rule.HeldOutFraction) {
		return false
	}
	return slices.ContainsFunc(t.learnedFrom, func(s wire.Span) bool { return s.Has(id) })
}

package state

import (
	"reflect"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Churn is the share of the features of set that are not among those of before. A feature is the same if it is the same
// draw: the candidate with the same number from the same seed and distribution. Its bandwidth may have changed. Learned
// features are not draws, so all of them count as new.
func Churn(set, before *wire.FeatureSet) float64 {
	if !sameDraws(set, before) {
		return 1
	}
	had := make(map[int32]bool, len(before.Set.Index))
	for _, index := range before.Set.Index {
		had[index] = true
	}
	fresh := 0
	for _, index := range set.Set.Index {
		if !had[index] {
			fresh++
		}
	}
	return float64(fresh) / float64(len(set.Set.Index))
}

// sameDraws reports whether a number names the same candidate in both, apart from the bandwidth.
func sameDraws(a, b *wire.FeatureSet) bool {
	if a.Lineage.Learned() || b.Lineage.Learned() {
		return false
	}
	x, y := a.Candidates, b.Candidates
	x.Sigma, x.Count, y.Sigma, y.Count = 1, 1, 1, 1
	return reflect.DeepEqual(x, y) && slices.EqualFunc(a.Encoder.Columns, b.Encoder.Columns, func(c, d encoder.Column) bool {
		return c.Name == d.Name && c.Kind == d.Kind && c.Width == d.Width
	})
}

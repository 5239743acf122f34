package telemetry

import (
	"reflect"
	"slices"
	"sync"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// churn compares the feature set in use with the one before. It remembers the last comparison.
type churn struct {
	mu              sync.Mutex
	current, before string // ids compared
	ratio           float64
}

// of is the share of the features in use that are not in the set of the next lower sequence number. It is unknown where the
// topic has no such set.
func (c *churn) of(now state.Snapshot) float64 {
	current := now.CurrentSet()
	if current == nil {
		return unknown
	}
	sets := now.SetsBySequence()
	at := slices.IndexFunc(sets, func(set state.Set) bool {
		return set.ID != current.ID && set.Set.Lineage.Sequence < current.Set.Lineage.Sequence
	})
	if at < 0 {
		return unknown
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := sets[at]; c.current != current.ID || c.before != before.ID {
		c.current, c.before, c.ratio = current.ID, before.ID, Churn(current.Set, before.Set)
	}
	return c.ratio
}

// Churn is the share of the features of set that are not among those of before. A feature is the same if it is the same
// draw: the candidate of the same number from the same seed and distribution. Its scale, the bandwidth, may have changed
// meanwhile. Learned features are no draws: all of them are fresh.
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

// sameDraws says that a number names the same candidate in both, but for the bandwidth.
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

package featurize

import (
	"context"
	"fmt"
	"sync"
	"weak"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// packedSet is a feature set packed for the kernels. It is immutable, and the partitions of a process share it.
type packedSet struct {
	id        string
	set       *wire.FeatureSet
	transform *scoring.Transformer
}

func pack(set *wire.FeatureSet) *packedSet {
	return &packedSet{id: set.ID(), set: set, transform: scoring.NewTransformer(&set.Set)}
}

// packedSets are the packed sets that partitions use. The zero value is ready for concurrent use.
type packedSets struct {
	mu   sync.Mutex
	sets map[string]weak.Pointer[packedSet]
}

// of returns a packed set. A caller that asks for one being packed waits for it.
func (s *packedSets) of(id string, set *wire.FeatureSet) *packedSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.sets[id].Value(); p != nil {
		return p
	}
	for other, used := range s.sets {
		if used.Value() == nil {
			delete(s.sets, other)
		}
	}
	if s.sets == nil {
		s.sets = map[string]weak.Pointer[packedSet]{}
	}
	p := pack(set)
	s.sets[id] = weak.Make(p)
	return p
}

// findSet returns a feature set: the one in use, or one from the topic.
func (p *partition) findSet(ctx context.Context, now state.Snapshot, id string) (*packedSet, error) {
	if current := now.CurrentSet(); current != nil && current.ID == id {
		return p.sets.of(id, current.Set), nil
	}
	entry, ok := now.Sets[id]
	if !ok {
		return nil, fmt.Errorf("feature set %s is %w", id, state.ErrNoSet)
	}
	set, err := p.Env.State.LoadSet(ctx, entry)
	if err != nil {
		return nil, err
	}
	return p.sets.of(id, set), nil
}

package events

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Seen is what a plan knows of a schema id.
type Seen = wire.SeenSchema

// ErrRegistryChanged reports that the schema registry's answers differ from those at the time the
// exploration was planned.
var ErrRegistryChanged = errors.New("the schema registry answers otherwise than when the exploration was planned")

// Admission decides which schemas an exploration reads by: those that the registry had when it was
// planned. So its result does not depend on what the registry knows later. It is safe for
// concurrent use.
type Admission struct {
	mu    sync.Mutex
	seen  map[uint32]string // hashes of schemas; empty = refused
	open  bool              // the plan is being made
	taken [2]int            // refused and admitted ids
}

// NewAdmission returns the admission of a plan that is being made.
func NewAdmission() *Admission { return &Admission{seen: map[uint32]string{}, open: true} }

// admissionOf returns that of a plan.
func admissionOf(seen []Seen) *Admission {
	a := &Admission{seen: make(map[uint32]string, len(seen))}
	for _, s := range seen {
		a.seen[s.ID] = s.Hash
	}
	return a
}

// Seen lists the ids of the plan, ascending; not nil.
func (a *Admission) Seen() []Seen {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]Seen, 0, len(a.seen))
	for id, hash := range a.seen {
		all = append(all, Seen{ID: id, Hash: hash})
	}
	slices.SortFunc(all, func(x, y Seen) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

// unplanned is the answer for an id that the plan does not read by; false if it does, or may still.
func (a *Admission) unplanned(id uint32) (answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.seen[id]; known || a.open && a.taken[1] < wire.MaxSeenSchemas {
		return answer{}, false
	}
	return answer{id: id, err: fmt.Errorf("%w: %d is not among those that the exploration was planned with", formats.ErrUnknownSchema, id)}, true
}

// admit returns the answer that the plan reads a message by, or [ErrRegistryChanged].
func (a *Admission) admit(found answer) (answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hash, known := a.seen[found.id]
	switch {
	case known && hash != found.hash:
		return found, fmt.Errorf("%w: schema %d was %s and is %s", ErrRegistryChanged, found.id, cmp.Or(hash, "refused"), cmp.Or(found.hash, "refused"))
	case known:
		return found, nil
	}
	// Anybody can name ids that the registry does not have: of those only the first are kept, to
	// notice if it has them later.
	kind, most := 0, wire.MaxRefusedSchemas
	if found.hash != "" {
		kind, most = 1, wire.MaxSeenSchemas
	}
	if a.taken[kind] < most {
		a.taken[kind]++
		a.seen[found.id] = found.hash
	}
	return found, nil
}

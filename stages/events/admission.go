package events

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Seen is the plan's record of a schema id.
type Seen = wire.SeenSchema

// ErrRegistryChanged means that the registry's answers changed after an exploration was planned.
var ErrRegistryChanged = errors.New("the schema registry's answers have changed since the exploration was planned")

// Admission restricts an exploration to the schemas that the registry had when it was planned, so
// that its result does not depend on later changes of the registry. It is safe for concurrent use.
type Admission struct {
	mu    sync.Mutex
	seen  map[formats.SchemaID]string // hashes of schemas; empty = refused
	open  bool                        // the plan is being made
	taken [2]int                      // number of refused and of admitted ids
}

// NewAdmission returns the admission of a plan that is being made.
func NewAdmission() *Admission { return &Admission{seen: map[formats.SchemaID]string{}, open: true} }

// admissionOf returns the admission of a plan.
func admissionOf(seen []Seen) *Admission {
	a := &Admission{seen: make(map[formats.SchemaID]string, len(seen))}
	for _, s := range seen {
		a.seen[idOf(s)] = s.Hash
	}
	return a
}

// idOf returns the id in a plan's record. A GUID of another form is no id that a message can name.
func idOf(s Seen) formats.SchemaID {
	id := formats.SchemaID{Number: s.ID}
	if guid, err := hex.DecodeString(strings.ReplaceAll(s.GUID, "-", "")); err == nil && len(guid) == len(id.GUID) {
		id.GUID = [16]byte(guid)
	}
	return id
}

// Seen lists the ids of the plan, ascending; not nil.
func (a *Admission) Seen() []Seen {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]Seen, 0, len(a.seen))
	for id, hash := range a.seen {
		one := Seen{ID: id.Number, Hash: hash}
		if id.GUID != ([16]byte{}) {
			one.GUID = id.String()
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(x, y Seen) int { return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.GUID, y.GUID)) })
	return all
}

// unplanned returns the refusal of an id that the plan excludes; false if the plan has the id or
// may still add it.
func (a *Admission) unplanned(id formats.SchemaID) (answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.seen[id]; known || a.open && a.taken[1] < wire.MaxSeenSchemas {
		return answer{}, false
	}
	return answer{
		id:  id,
		err: fmt.Errorf("%w: the exploration was planned without schema %s", formats.ErrUnknownSchema, id),
	}, true
}

// admit returns the answer that the plan uses for a message, or [ErrRegistryChanged].
func (a *Admission) admit(found answer) (answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hash, known := a.seen[found.id]
	switch {
	case known && hash != found.hash:
		return found, fmt.Errorf(
			"%w: schema %s was %s and is now %s",
			ErrRegistryChanged,
			found.id,
			cmp.Or(hash, "refused"),
			cmp.Or(found.hash, "refused"),
		)
	case known:
		return found, nil
	}
	// Producers can name any number of ids that the registry does not have. Only the first are
	// kept, to detect a later registration.
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

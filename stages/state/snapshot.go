package state

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Set is a feature set as it stands on its topic.
type Set struct {
	ID   string
	Set  *wire.FeatureSet
	Time time.Time // of the record
}

// Request is a request with its place on the explorations topic.
type Request struct {
	wire.Request
	Offset int64
	Fault  error // why it cannot be understood; then the request has its id alone
}

// Describe names a request with what its sender said of it.
func (r Request) Describe() string {
	if r.Reason == "" {
		return "request " + r.ID
	}
	return "request " + r.ID + ": " + r.Reason
}

// Snapshot is what the followed topics say of a pipeline at one moment. It is immutable.
type Snapshot struct {
	// Spec is the newest exploration, nil where there was none. SpecTime is its record's time.
	Spec     *wire.Spec
	SpecTime time.Time
	// Shadowed says that behind Spec, under the same key, an older spec was written, by a planner or selector that had lost its
	// ownership, or one that cannot be decoded: compaction would keep that one.
	Shadowed bool
	// Progress is how far the selection of an exploration has come, nil where nobody has said it.
	Progress *wire.Progress
	// Requests are in the order of their offsets; those below Spec.HandledOffset are answered.
	Requests []Request
	// Current names the feature set in use, nil where there is none.
	Current *wire.Current
	// CurrentShadowed says the same of Current as Shadowed does of Spec. Where compaction has kept nothing but a pointer that
	// cannot be decoded, Current is the newest set that the topic holds.
	CurrentShadowed bool
	// Sets are the feature sets that the topic holds, by id.
	Sets map[string]Set
	// Models is empty where models are not followed.
	Models Models
	// Undecodable is how many records under keys of the pipeline could not be decoded, by topic.
	Undecodable [topics]int64

	next [topics]int64 // offsets behind what was read
}

// clear forgets what a topic says.
func (s *Snapshot) clear(t Topic, c Config) {
	switch t {
	case TopicExplorations:
		s.Spec, s.SpecTime, s.Shadowed, s.Progress, s.Requests = nil, time.Time{}, false, nil, nil
	case TopicFeatureSets:
		s.Current, s.CurrentShadowed, s.Sets = nil, false, map[string]Set{}
	case TopicModels:
		s.Models = Models{config: c}
	}
	s.next[t] = 0
}

// Running returns the exploration that is under way, or nil: the newest spec, unless its set is published or
// it was cancelled or abandoned.
func (s Snapshot) Running() *wire.Spec {
	if s.Spec == nil || s.Spec.Status != wire.StatusRunning || s.Spec.Earlier() {
		return nil
	}
	if s.Current != nil && s.Current.Sequence >= s.Spec.Sequence {
		return nil
	}
	return s.Spec
}

// What an exploration is called besides the statuses of the wire.
const (
	StatusNone      = "none"      // there was none
	StatusPublished = "published" // its set is
	StatusReplaced  = "replaced"  // an earlier version planned it and it has not ended: it is planned anew
)

// Status says how far the newest exploration is: running, cancelled, abandoned, or one of the above.
func (s Snapshot) Status() string {
	switch {
	case s.Spec == nil:
		return StatusNone
	case s.Spec.Status != wire.StatusRunning || s.Running() != nil:
		return string(s.Spec.Status)
	case s.Current != nil && s.Current.Sequence >= s.Spec.Sequence:
		return StatusPublished
	}
	return StatusReplaced
}

// HasRequest reports whether a request is open.
func (s Snapshot) HasRequest(id string) bool {
	return slices.ContainsFunc(s.Requests, func(r Request) bool { return r.ID == id })
}

// CurrentSet returns the feature set in use, or nil.
func (s Snapshot) CurrentSet() *Set {
	if s.Current == nil {
		return nil
	}
	if set, ok := s.Sets[s.Current.ID]; ok {
		return &set
	}
	return nil
}

// Sequence is the highest sequence number that explorations or sets carry.
func (s Snapshot) Sequence() int64 {
	var highest int64
	if s.Spec != nil {
		highest = s.Spec.Sequence
	}
	if s.Current != nil {
		highest = max(highest, s.Current.Sequence)
	}
	return highest
}

// SetsBySequence lists the feature sets, the newest first.
func (s Snapshot) SetsBySequence() []Set {
	return slices.SortedFunc(maps.Values(s.Sets), func(a, b Set) int {
		return cmp.Or(cmp.Compare(b.Set.Lineage.Sequence, a.Set.Lineage.Sequence), cmp.Compare(a.ID, b.ID))
	})
}

func (f *Follower) decodeExploration(decoder *arrowio.Decoder, r pipeline.Record) (decoded, error) {
	owner, id, isRequest := wire.ParseRequestKey(r.Key)
	isRequest = isRequest && owner == f.config.Pipeline
	switch isSpec := bytes.Equal(r.Key, wire.SpecKey(f.config.Pipeline)); {
	case isRequest && r.Value == nil:
		return func(s *Snapshot) { s.keepRequests(func(r Request) bool { return r.ID != id }) }, nil
	case isRequest:
		request, err := wire.DecodeRequest(decoder, r.Value)
		if err != nil { // such as one of an earlier version: the planner answers it
			request = &wire.Request{ID: id}
		}
		return func(s *Snapshot) {
			if s.Spec == nil || r.Offset >= s.Spec.HandledOffset {
				s.keepRequests(func(r Request) bool { return r.ID != id }) // sent again, or read again from a truncated topic
				s.Requests = append(s.Requests, Request{Request: *request, Offset: r.Offset, Fault: err})
			}
		}, err
	case bytes.Equal(r.Key, wire.ProgressKey(f.config.Pipeline)) && r.Value != nil:
		progress, err := wire.DecodeProgress(decoder, r.Value)
		if err != nil {
			return nil, err
		}
		return func(s *Snapshot) { s.Progress = progress }, nil
	case isSpec && r.Value != nil:
		spec, err := wire.DecodeSpec(decoder, r.Value)
		if err != nil {
			return func(s *Snapshot) { s.Shadowed = s.Spec != nil }, err
		}
		return func(s *Snapshot) { s.applySpec(spec, r.Time) }, nil
	}
	return nil, nil
}

func (s *Snapshot) applySpec(spec *wire.Spec, at time.Time) {
	if s.Spec != nil && older(spec, s.Spec) {
		s.Shadowed = true
		return
	}
	s.Spec, s.SpecTime, s.Shadowed = spec, at, false
	s.keepRequests(func(r Request) bool { return r.Offset >= spec.HandledOffset })
}

// keepRequests drops the requests that keep does not name, in a copy.
func (s *Snapshot) keepRequests(keep func(Request) bool) {
	var left []Request
	for _, r := range s.Requests {
		if keep(r) {
			left = append(left, r)
		}
	}
	s.Requests = left
}

// older reports whether spec, although it was written behind last, does not take its place: one of a lower sequence number,
// or of an exploration that has ended.
func older(spec, last *wire.Spec) bool {
	if spec.Sequence != last.Sequence {
		return spec.Sequence < last.Sequence
	}
	if spec.Exploration != last.Exploration {
		return false
	}
	return spec.Status == wire.StatusRunning && last.Status != wire.StatusRunning
}

// errNoPointer says that a pointer was deleted, which nobody of the pipeline does.
var errNoPointer = errors.New("the pointer to what is in use was deleted")

func decodePointer(decoder *arrowio.Decoder, r pipeline.Record) (*wire.Current, error) {
	if r.Value == nil {
		return nil, errNoPointer
	}
	return wire.DecodeCurrent(decoder, r.Value)
}

// recoverCurrent has the pointer written again of which compaction would keep, or has kept, only what is no pointer.
func (s *Snapshot) recoverCurrent() {
	if s.Current == nil && len(s.Sets) > 0 {
		newest := s.SetsBySequence()[0]
		lineage := newest.Set.Lineage
		s.Current = &wire.Current{ID: newest.ID, Sequence: lineage.Sequence, Exploration: lineage.Exploration, Time: newest.Time}
	}
	s.CurrentShadowed = s.Current != nil
}

func (f *Follower) decodeFeatureSet(decoder *arrowio.Decoder, r pipeline.Record) (decoded, error) {
	owner, id, pointer, ok := wire.ParseSetKey(r.Key)
	switch {
	case !ok || owner != f.config.Pipeline:
		return nil, nil
	case pointer:
		current, err := decodePointer(decoder, r)
		if err != nil {
			return (*Snapshot).recoverCurrent, err
		}
		return func(s *Snapshot) {
			if s.Current != nil && current.Sequence < s.Current.Sequence {
				s.CurrentShadowed = true
				return
			}
			s.Current, s.CurrentShadowed = current, false
		}, nil
	case r.Value == nil:
		return func(s *Snapshot) {
			s.Sets = maps.Clone(s.Sets)
			delete(s.Sets, id)
		}, nil
	}
	set, err := wire.DecodeFeatureSet(decoder, r.Value)
	if err != nil {
		return nil, err
	}
	if set.ID() != id {
		return nil, fmt.Errorf("feature set %s under the key of %s", set.ID(), id)
	}
	return func(s *Snapshot) {
		s.Sets = maps.Clone(s.Sets)
		s.Sets[id] = Set{ID: id, Set: set, Time: r.Time}
	}, nil
}

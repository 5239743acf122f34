package state

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Request is a request and its place on the explorations topic.
type Request struct {
	wire.Request
	Offset int64
	Fault  error // why it cannot be understood; then only its id is set
}

// Describe names a request and what its sender said about it.
func (r Request) Describe() string {
	if r.Reason == "" {
		return "request " + r.ID
	}
	return "request " + r.ID + ": " + r.Reason
}

// Snapshot is what the followed topics say about a pipeline at one moment. It is immutable.
type Snapshot struct {
	// Spec is the newest exploration, nil if there was none. SpecTime is its record's time.
	Spec     *wire.Spec
	SpecTime time.Time
	// Shadowed says that after Spec, under the same key, an older spec was written by a planner or selector that had
	// lost its ownership, or a record that cannot be decoded. Compaction would keep that one.
	Shadowed bool
	// SpecLost says that Spec is nil because the record under its key cannot be decoded.
	SpecLost bool
	// Progress is how far the selection of an exploration has come, nil if nothing was reported.
	Progress *wire.Progress
	// ProgressShadowed says that a record that cannot be decoded comes after it, under the same key.
	ProgressShadowed bool
	// Requests are in offset order. Those below Spec.HandledOffset are answered.
	Requests []Request
	// Current names the feature set in use, nil if there is none.
	Current *wire.Current
	// CurrentShadowed is to Current what Shadowed is to Spec. If compaction has kept only a pointer that cannot be
	// decoded, Current is the newest set on the topic.
	CurrentShadowed bool
	// Sets are the feature sets that the topic holds, by id.
	Sets map[string]SetEntry
	// DamagedSets are the ids, ascending, whose records are not feature sets. A set that was read before is still among
	// Sets.
	DamagedSets []string
	// Models is empty if models are not followed.
	Models Models
	// Undecodable is how many records under keys of the pipeline could not be decoded, by topic.
	Undecodable [topics]int64
	// Recreated and Truncated are how often a topic was found to be a different one, or to have lost its end.
	Recreated, Truncated [topics]int64
	// Unwritten says that the set in use may no longer be on its topic, which was recreated or has lost its end.
	Unwritten bool

	held heldSets
	next [topics]int64 // offsets after what was read
	// specUnwritten is to Spec what Unwritten is to the set in use.
	specUnwritten bool
}

// clear forgets what a topic says.
func (s *Snapshot) clear(t Topic, c Config) {
	switch t {
	case TopicExplorations:
		s.Spec, s.SpecTime, s.Shadowed, s.specUnwritten, s.SpecLost = nil, time.Time{}, false, false, false
		s.Progress, s.ProgressShadowed, s.Requests = nil, false, nil
	case TopicFeatureSets:
		s.Current, s.CurrentShadowed, s.Unwritten, s.Sets, s.DamagedSets, s.held = nil, false, false, map[string]SetEntry{}, nil, heldSets{}
	case TopicModels:
		s.Models = Models{config: c}
	}
	s.next[t] = 0
}

// startOver prepares for reading what is in the place of what was read: a topic is a different one or was truncated. What is in use
// stays in use until its owner writes it again, or others in its place, which need no higher number: who wrote them may not have known
// it. Models are made again from features.
func (s *Snapshot) startOver(t Topic, g pipeline.Gap) {
	s.countChange(t, g)
	switch end := g.End; t {
	case TopicExplorations:
		if g.Kind == pipeline.GapRecreated {
			end = 0
		}
		s.specUnwritten = s.Spec != nil
		if s.Shadowed = s.Spec != nil; s.Shadowed {
			spec := *s.Spec
			spec.HandledOffset = min(spec.HandledOffset, end)
			s.Spec = &spec
		}
		s.Requests = slices.Clone(s.Requests)
		for i := range s.Requests {
			s.Requests[i].Offset = min(s.Requests[i].Offset, end) // it may have no place any more, but it is still open
		}
	case TopicFeatureSets:
		s.CurrentShadowed, s.Unwritten = s.Current != nil, s.Current != nil
	case TopicModels:
		s.clear(t, s.Models.config)
	}
	s.next[t] = g.To
}

// countChange counts a topic that was found to be a different one, or to have lost its end.
func (s *Snapshot) countChange(t Topic, g pipeline.Gap) {
	if g.Kind == pipeline.GapRecreated {
		s.Recreated[t]++
		return
	}
	s.Truncated[t]++
}

// Running returns the exploration that is under way, or nil: the newest spec, unless its set is published or it was
// cancelled or abandoned.
func (s Snapshot) Running() *wire.Spec {
	if s.Spec == nil || s.Spec.Status != wire.StatusRunning {
		return nil
	}
	if s.Current != nil && s.Current.Sequence >= s.Spec.Sequence && !s.CurrentLost() {
		return nil
	}
	return s.Spec
}

// CurrentLost says that neither a pointer to the set in use nor that set is known to be on the topic any more. Who begins to read
// now does not know that there was one, so nobody may rely on it.
func (s Snapshot) CurrentLost() bool {
	if s.Current == nil || !s.CurrentShadowed {
		return false
	}
	_, there := s.Sets[s.Current.ID]
	return s.Unwritten || !there
}

// Names for the state of an exploration, in addition to the statuses on the wire.
const (
	StatusNone      = "none"      // there was none
	StatusPublished = "published" // its set is
)

// Status says how far the newest exploration is: running, cancelled, abandoned, or one of the above.
func (s Snapshot) Status() string {
	switch {
	case s.Spec == nil:
		return StatusNone
	case s.Spec.Status == wire.StatusRunning && s.Running() == nil:
		return StatusPublished
	}
	return string(s.Spec.Status)
}

// HasRequest reports whether a request is open.
func (s Snapshot) HasRequest(id string) bool {
	return slices.ContainsFunc(s.Requests, func(r Request) bool { return r.ID == id })
}

// Sequence is the highest sequence number of all explorations and sets.
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

func (f *Follower) decodeExploration(decoder *arrowio.Decoder, r pipeline.Record) (decoded, error) {
	owner, id, isRequest := wire.ParseRequestKey(r.Key)
	isRequest = isRequest && owner == f.config.Pipeline
	switch isSpec := bytes.Equal(r.Key, wire.SpecKey(f.config.Pipeline)); {
	case isRequest && r.Value == nil:
		return func(s *Snapshot) { s.keepRequests(func(r Request) bool { return r.ID != id }) }, nil
	case isRequest:
		request, err := wire.DecodeRequest(decoder, r.Value)
		if err != nil { // the planner answers it
			request = &wire.Request{ID: id}
		}
		return func(s *Snapshot) {
			if s.Spec == nil || r.Offset >= s.Spec.HandledOffset {
				s.keepRequests(func(r Request) bool { return r.ID != id }) // sent again, or read again from a truncated topic
				s.Requests = append(s.Requests, Request{Request: *request, Offset: r.Offset, Fault: err})
			}
		}, err
	case bytes.Equal(r.Key, wire.ProgressKey(f.config.Pipeline)):
		if r.Value == nil {
			return func(s *Snapshot) { s.Progress, s.ProgressShadowed = nil, false }, nil
		}
		progress, err := wire.DecodeProgress(decoder, r.Value)
		if err != nil {
			return func(s *Snapshot) { s.ProgressShadowed = true }, err
		}
		return func(s *Snapshot) { s.Progress, s.ProgressShadowed = progress, false }, nil
	case isSpec:
		spec, err := decodeSpec(decoder, r)
		if err != nil {
			return func(s *Snapshot) { s.Shadowed, s.SpecLost = s.Spec != nil, s.Spec == nil }, err
		}
		return func(s *Snapshot) { s.applySpec(spec, r.Time) }, nil
	}
	return nil, nil
}

func (s *Snapshot) applySpec(spec *wire.Spec, at time.Time) {
	if s.Spec != nil && !s.specUnwritten && older(spec, s.Spec) {
		s.Shadowed = true
		return
	}
	s.Spec, s.SpecTime, s.Shadowed, s.specUnwritten, s.SpecLost = spec, at, false, false, false
	s.keepRequests(func(r Request) bool { return r.Offset >= spec.HandledOffset })
}

// keepRequests keeps the requests that keep accepts, in a copy.
func (s *Snapshot) keepRequests(keep func(Request) bool) {
	var left []Request
	for _, r := range s.Requests {
		if keep(r) {
			left = append(left, r)
		}
	}
	s.Requests = left
}

// older reports whether spec does not replace last although it was written later: because it has a lower sequence
// number, or belongs to an exploration that has ended.
func older(spec, last *wire.Spec) bool {
	if spec.Sequence != last.Sequence {
		return spec.Sequence < last.Sequence
	}
	if spec.Exploration != last.Exploration {
		return false
	}
	return spec.Status == wire.StatusRunning && last.Status != wire.StatusRunning
}

// errNoSpec says that the spec was deleted, which no part of the pipeline does.
var errNoSpec = errors.New("the spec of the newest exploration was deleted")

func decodeSpec(decoder *arrowio.Decoder, r pipeline.Record) (*wire.Spec, error) {
	if r.Value == nil {
		return nil, errNoSpec
	}
	return wire.DecodeSpec(decoder, r.Value)
}

// errNoPointer says that the pointer was deleted, which no part of the pipeline does.
var errNoPointer = errors.New("the pointer to what is in use was deleted")

func decodePointer(decoder *arrowio.Decoder, r pipeline.Record) (*wire.Current, error) {
	if r.Value == nil {
		return nil, errNoPointer
	}
	return wire.DecodeCurrent(decoder, r.Value)
}

// recoverCurrent marks the pointer as one to write again, if compaction would keep, or has kept, only a damaged record.
func (s *Snapshot) recoverCurrent() {
	if s.Current == nil && len(s.Sets) > 0 {
		newest := s.SetsBySequence()[0]
		s.pointSet(&wire.Current{ID: newest.ID, Sequence: newest.Lineage.Sequence, Exploration: newest.Lineage.Exploration, Time: newest.Time})
	}
	s.CurrentShadowed = s.Current != nil
}

// damaged records whether the record of a feature set is damaged, in a copy.
func (s *Snapshot) damaged(id string, is bool) {
	ids := slices.DeleteFunc(slices.Clone(s.DamagedSets), func(other string) bool { return other == id })
	if is {
		ids = append(ids, id)
		slices.Sort(ids)
	}
	s.DamagedSets = ids
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
			if s.Current != nil && !s.Unwritten && current.Sequence < s.Current.Sequence {
				s.CurrentShadowed = true
				return
			}
			s.pointSet(current)
		}, nil
	case r.Value == nil:
		return func(s *Snapshot) {
			s.dropSet(id)
			s.damaged(id, false)
		}, nil
	}
	set, err := decodeSet(decoder, id, r)
	if errors.Is(err, wire.ErrFormatVersion) { // another version that runs at the same time understands it
		return nil, err
	}
	if err != nil {
		return func(s *Snapshot) { s.damaged(id, true) }, err
	}
	f.sets.put(id, set)
	entry := newSetEntry(id, r, set)
	return func(s *Snapshot) {
		s.damaged(id, false)
		s.putSet(entry, set)
		s.Unwritten = s.Unwritten && (s.Current == nil || s.Current.ID != id)
	}, nil
}

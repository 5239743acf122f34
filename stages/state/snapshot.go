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
	Fault  error // why it cannot be decoded; then only its id is set
}

// Describe names a request and the reason that its sender gave.
func (r Request) Describe() string {
	if r.Reason == "" {
		return "request " + r.ID
	}
	return "request " + r.ID + ": " + r.Reason
}

// Snapshot is the state of a pipeline on the followed topics at one moment. It is immutable.
type Snapshot struct {
	// Spec is the newest exploration; nil without one, or if no record of one can be decoded.
	// SpecTime is its record's time.
	Spec     *wire.Spec
	SpecTime time.Time
	// Progress is the last reported progress of a selection; nil without a report.
	Progress *wire.Progress
	// Requests are in offset order. Requests below Spec.HandledOffset are answered.
	Requests []Request
	// Current names the current feature set; nil without one. If only an undecodable pointer is
	// left, Current is the newest set on the topic.
	Current *wire.Current
	// Sets are the feature sets on the topic, by id.
	Sets map[string]SetEntry
	// Models is empty if models are not followed.
	Models Models
	// Repairs are the records that their owners must rewrite, in the order of repair.
	Repairs []Repair
	// Undecodable counts the records under keys of the pipeline that could not be decoded, by
	// topic.
	Undecodable [topics]int64
	// Recreated and Truncated count how often a topic was found recreated or truncated.
	Recreated, Truncated [topics]int64

	held heldSets
	next [topics]int64 // the next offset to read, by topic
	// ownSets is set while changes are applied to a copy of Sets that no other snapshot shares.
	ownSets bool
}

// clear forgets everything read from a topic.
func (s *Snapshot) clear(t Topic, c Config) {
	switch t {
	case TopicExplorations:
		s.Spec, s.SpecTime = nil, time.Time{}
		s.Progress, s.Requests = nil, nil
	case TopicFeatureSets:
		s.Current, s.Sets = nil, map[string]SetEntry{}
		s.held = heldSets{}
	case TopicModels:
		s.Models = Models{config: c}
	}
	s.dropRepairs(func(r Repair) bool { return recordKinds[r.Record].topic == t })
	s.next[t] = 0
}

// startOver prepares for rereading a topic that was recreated or truncated. Known values stay until
// their owner rewrites them or other records replace them. The trainer makes new models from the
// features.
func (s *Snapshot) startOver(t Topic, g pipeline.Gap) {
	s.countChange(t, g)
	switch end := g.End; t {
	case TopicExplorations:
		if g.Kind == pipeline.GapRecreated {
			end = 0
		}
		if s.Spec != nil {
			s.damage(RecordSpec, "", true)
			spec := *s.Spec
			spec.HandledOffset = min(spec.HandledOffset, end)
			s.Spec = &spec
		}
		s.Requests = slices.Clone(s.Requests)
		for i := range s.Requests { // they stay open, although the topic may have lost them
			s.Requests[i].Offset = min(s.Requests[i].Offset, end)
		}
	case TopicFeatureSets:
		if s.Current != nil {
			s.damage(RecordSet, s.Current.ID, true)
			s.damage(RecordSetPointer, "", true)
		}
	case TopicModels:
		s.clear(t, s.Models.config)
	}
	s.next[t] = g.To
}

// countChange counts a recreated or truncated topic.
func (s *Snapshot) countChange(t Topic, g pipeline.Gap) {
	if g.Kind == pipeline.GapRecreated {
		s.Recreated[t]++
		return
	}
	s.Truncated[t]++
}

// Running returns the running exploration, or nil: the newest spec, unless its set is published or
// it was cancelled or abandoned.
func (s Snapshot) Running() *wire.Spec {
	if s.Spec == nil || s.Spec.Status != wire.StatusRunning {
		return nil
	}
	if s.Current != nil && wire.CompareSequences(s.Current.Sequence, s.Spec.Sequence) >= 0 && !s.CurrentLost() {
		return nil
	}
	return s.Spec
}

// SpecLost reports whether a spec exists but cannot be decoded, nor is an earlier one known.
func (s Snapshot) SpecLost() bool { return s.Spec == nil && s.Damaged(RecordSpec) }

// CurrentLost reports whether the topic has lost both the current feature set and its pointer. A
// process that starts now does not know of them, so no process may rely on them.
func (s Snapshot) CurrentLost() bool {
	if s.Current == nil || !s.Damaged(RecordSetPointer) {
		return false
	}
	_, listed := s.Sets[s.Current.ID]
	return !listed || s.gone(RecordSet, s.Current.ID)
}

// States of an exploration in addition to the statuses on the wire.
const (
	StatusNone      = "none"      // no exploration is known
	StatusPublished = "published" // its set is published
)

// Status returns the state of the newest exploration: running, cancelled, abandoned, or one of the
// above.
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

// Sequence is the newest sequence number of all explorations and sets.
func (s Snapshot) Sequence() int64 {
	switch {
	case s.Spec == nil && s.Current == nil:
		return 0
	case s.Spec == nil, s.Current != nil && wire.CompareSequences(s.Current.Sequence, s.Spec.Sequence) > 0:
		return s.Current.Sequence
	}
	return s.Spec.Sequence
}

func (f *Follower) decodeExploration(_ *arrowio.Decoder, r pipeline.Record) (update, error) {
	owner, id, isRequest := wire.ParseRequestKey(r.Key)
	isRequest = isRequest && owner == f.config.Pipeline
	switch isSpec := bytes.Equal(r.Key, wire.SpecKey(f.config.Pipeline)); {
	case isRequest && r.Value == nil:
		return func(s *Snapshot) { s.dropRequest(id) }, nil
	case isRequest:
		request, err := wire.DecodeRequest(r.Value)
		if err != nil { // the planner answers it
			request = &wire.Request{ID: id}
		}
		return func(s *Snapshot) {
			if s.Spec == nil || r.Offset >= s.Spec.HandledOffset {
				// It may be known already: sent twice, or reread from a truncated topic.
				s.dropRequest(id)
				s.addRequest(Request{Request: *request, Offset: r.Offset, Fault: err})
			}
		}, err
	case bytes.Equal(r.Key, wire.ProgressKey(f.config.Pipeline)):
		return decodeProgress(r)
	case isSpec:
		spec, err := decodeSpec(r)
		if err != nil {
			return func(s *Snapshot) { s.damage(RecordSpec, "", false) }, err
		}
		return func(s *Snapshot) { s.applySpec(spec, r) }, nil
	}
	return nil, nil
}

func decodeProgress(r pipeline.Record) (_ update, err error) {
	var progress *wire.Progress
	if r.Value != nil {
		progress, err = wire.DecodeProgress(r.Value)
	}
	if err != nil {
		return func(s *Snapshot) { s.damage(RecordProgress, "", false) }, err
	}
	return func(s *Snapshot) {
		s.Progress = progress
		s.repaired(RecordProgress, "")
	}, nil
}

// applySpec applies a spec and the requests that it answers. A spec cannot answer later requests:
// they stay open regardless of its handled offset.
func (s *Snapshot) applySpec(spec *wire.Spec, r pipeline.Record) {
	at := r.Time
	spec.HandledOffset = min(spec.HandledOffset, r.Offset)
	if s.Spec != nil && !s.gone(RecordSpec, "") && older(spec, s.Spec) {
		s.damage(RecordSpec, "", false)
		return
	}
	s.Spec, s.SpecTime = spec, at
	s.repaired(RecordSpec, "")
	s.keepRequests(func(r Request) bool { return r.Offset >= spec.HandledOffset })
}

// maxRequests limits the open requests, so that reading many records under keys of requests takes
// time in proportion to their number, and little memory. Further ones stay on the topic until
// earlier ones are answered and the topic is reread.
const maxRequests = 1000

// addRequest adds an open request, in a copy, unless too many are open.
func (s *Snapshot) addRequest(r Request) {
	if len(s.Requests) < maxRequests {
		s.Requests = append(slices.Clip(s.Requests), r)
	}
}

// dropRequest removes a request, in a copy, if it is open.
func (s *Snapshot) dropRequest(id string) {
	if s.HasRequest(id) {
		s.keepRequests(func(r Request) bool { return r.ID != id })
	}
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

// older reports whether last stays although spec was written after it: because spec has a lower
// sequence number, or belongs to an exploration that has ended.
func older(spec, last *wire.Spec) bool {
	if spec.Sequence != last.Sequence {
		return wire.CompareSequences(spec.Sequence, last.Sequence) < 0
	}
	if spec.Exploration != last.Exploration {
		return false
	}
	return spec.Status == wire.StatusRunning && last.Status != wire.StatusRunning
}

// errNoSpec reports a deleted spec. No part of the pipeline deletes one.
var errNoSpec = errors.New("the spec of the newest exploration was deleted")

func decodeSpec(r pipeline.Record) (*wire.Spec, error) {
	if r.Value == nil {
		return nil, errNoSpec
	}
	return wire.DecodeSpec(r.Value)
}

// errNoPointer reports a deleted pointer. No part of the pipeline deletes one.
var errNoPointer = errors.New("the pointer to the current set or model was deleted")

func decodePointer(r pipeline.Record) (*wire.Current, error) {
	if r.Value == nil {
		return nil, errNoPointer
	}
	return wire.DecodeCurrent(r.Value)
}

func (f *Follower) decodeFeatureSet(decoder *arrowio.Decoder, r pipeline.Record) (update, error) {
	owner, id, pointer, ok := wire.ParseSetKey(r.Key)
	switch {
	case !ok || owner != f.config.Pipeline:
		return nil, nil
	case pointer:
		current, err := decodePointer(r)
		if err != nil {
			return (*Snapshot).damageSetPointer, err
		}
		return func(s *Snapshot) { s.applySetPointer(current) }, nil
	case r.Value == nil:
		return func(s *Snapshot) {
			s.dropSet(id)
			s.repaired(RecordSet, id)
		}, nil
	}
	set, err := decodeSet(decoder, id, r)
	if errors.Is(err, wire.ErrFormatVersion) { // a process of that version can decode it
		return nil, err
	}
	if err != nil {
		return func(s *Snapshot) { s.damage(RecordSet, id, false) }, err
	}
	f.sets.put(id, set)
	entry := newSetEntry(id, r, set)
	return func(s *Snapshot) {
		s.putSet(entry, set)
		s.repaired(RecordSet, id)
	}, nil
}

// damageSetPointer applies an undecodable pointer. If compaction has left no other, the newest set
// is taken as current.
func (s *Snapshot) damageSetPointer() {
	if s.Current == nil && len(s.Sets) > 0 {
		newest := s.SetsBySequence()[0]
		s.pointSet(&wire.Current{
			ID:          newest.ID,
			Sequence:    newest.Lineage.Sequence,
			Exploration: newest.Lineage.Exploration,
			Time:        newest.Time,
		})
	}
	if s.Current != nil {
		s.damage(RecordSetPointer, "", false)
	}
}

func (s *Snapshot) applySetPointer(current *wire.Current) {
	if s.Current != nil && !s.gone(RecordSetPointer, "") &&
		wire.CompareSequences(current.Sequence, s.Current.Sequence) < 0 {
		s.damage(RecordSetPointer, "", false)
		return
	}
	s.pointSet(current)
}

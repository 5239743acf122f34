package stages

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sort"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// PublishedSet is a feature set as it stands on its topic.
type PublishedSet struct {
	ID   string
	Set  *wire.FeatureSet
	Time time.Time // of the record
}

// PendingRequest is a request with its place on the explorations topic.
type PendingRequest struct {
	wire.Request
	Offset int64
}

// State is what the topics explorations and feature-sets say of a pipeline at one moment. It is immutable.
type State struct {
	// Spec is the newest exploration, nil where there was none. SpecTime is its record's time.
	Spec     *wire.Spec
	SpecTime time.Time
	// Shadowed says that an older spec was written after Spec under the same key, by a planner or selector that
	// had lost its ownership: compaction would keep the older one.
	Shadowed bool
	// Requests are in the order of their offsets; those below Spec.HandledOffset are answered.
	Requests []PendingRequest
	// Current names the feature set in use, nil where there is none.
	Current *wire.Current
	// CurrentShadowed says the same of Current as Shadowed does of Spec.
	CurrentShadowed bool
	// Sets are the feature sets that the topic holds, by id.
	Sets map[string]PublishedSet

	explorationsNext, featureSetsNext int64 // offsets behind the last records taken in
}

// Running returns the exploration that is under way, or nil: the newest spec, unless its set is published or
// it was cancelled or abandoned.
func (s State) Running() *wire.Spec {
	if s.Spec == nil || s.Spec.Status != wire.StatusRunning {
		return nil
	}
	if s.Current != nil && s.Current.Sequence >= s.Spec.Sequence {
		return nil
	}
	return s.Spec
}

// CurrentSet returns the feature set in use, or nil.
func (s State) CurrentSet() *PublishedSet {
	if s.Current == nil {
		return nil
	}
	if set, ok := s.Sets[s.Current.ID]; ok {
		return &set
	}
	return nil
}

// Sequence is the highest sequence number that explorations or sets carry.
func (s State) Sequence() int64 {
	var highest int64
	if s.Spec != nil {
		highest = s.Spec.Sequence
	}
	if s.Current != nil {
		highest = max(highest, s.Current.Sequence)
	}
	return highest
}

// Watch follows the topics explorations and feature-sets and holds the newest state of one pipeline.
type Watch struct {
	log      pipeline.Log
	logger   *zap.Logger
	pipeline string
	topics   TopicsConfig
	limits   arrowio.Limits

	mu      sync.Mutex
	state   State
	changed chan struct{} // closed and replaced at each change
	behind  int           // followed topics that have not been read to their end yet
}

// NewWatch returns a watch that knows nothing until Run has read the topics.
func NewWatch(log pipeline.Log, logger *zap.Logger, pipelineName string, topics TopicsConfig) *Watch {
	limits := arrowio.DefaultLimits()
	limits.MaxMessageBytes = max(limits.MaxMessageBytes, topics.MaxMessageBytes)
	limits.BudgetBytes = max(limits.BudgetBytes, 4*topics.MaxMessageBytes)
	return &Watch{
		log: log, logger: logger, pipeline: pipelineName, topics: topics, limits: limits,
		state: State{Sets: map[string]PublishedSet{}}, changed: make(chan struct{}), behind: 2,
	}
}

// Run follows the topics until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	follow := func(topic string, next func(*State) *int64, apply func(*State, *arrowio.Decoder, pipeline.Record) error) {
		decoder := arrowio.NewDecoder(w.limits)
		group.Go(func() error {
			return pipeline.Follow(ctx, w.log, w.logger, topic, 0, func(r pipeline.Record) error {
				w.update(func(s *State) {
					if err := apply(s, decoder, r); err != nil {
						w.logger.Error("record not understood, ignored", zap.String("topic", topic),
							zap.Int64("offset", r.Offset), zap.ByteString("key", r.Key), zap.Error(err))
					}
					*next(s) = r.Offset + 1
				})
				return nil
			}, func(int64) {
				w.update(func(*State) { w.behind-- })
			})
		})
	}
	follow(w.topics.Explorations, func(s *State) *int64 { return &s.explorationsNext }, w.applyExploration)
	follow(w.topics.FeatureSets, func(s *State) *int64 { return &s.featureSetsNext }, w.applyFeatureSet)
	return group.Wait()
}

// State returns the present state.
func (w *Watch) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Wait returns the first state, from now on, that both topics have been read for and that ok accepts.
func (w *Watch) Wait(ctx context.Context, ok func(State) bool) (State, error) {
	for {
		w.mu.Lock()
		state, changed, ready := w.state, w.changed, w.behind == 0
		w.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return state, err
		}
		if ready && ok(state) {
			return state, nil
		}
		select {
		case <-ctx.Done():
			return state, ctx.Err()
		case <-changed:
		}
	}
}

// Changed returns a channel that is closed at the next change.
func (w *Watch) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func (w *Watch) update(change func(*State)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *Watch) applyExploration(s *State, decoder *arrowio.Decoder, r pipeline.Record) error {
	requester, id, request := wire.ParseRequestKey(r.Key)
	if r.Value == nil {
		if request && requester == w.pipeline {
			s.Requests = without(s.Requests, id)
		}
		return nil
	}
	switch {
	case bytes.Equal(r.Key, wire.SpecKey(w.pipeline)):
		spec, err := wire.DecodeSpec(decoder, r.Value)
		if err != nil {
			return err
		}
		if s.Spec != nil && older(spec, s.Spec) {
			s.Shadowed = true
			return nil
		}
		s.Spec, s.SpecTime, s.Shadowed = spec, r.Time, false
		s.Requests = unanswered(s.Requests, spec.HandledOffset)
	case request && requester == w.pipeline:
		request, err := wire.DecodeRequest(decoder, r.Value)
		if err != nil {
			return err
		}
		if s.Spec == nil || r.Offset >= s.Spec.HandledOffset {
			s.Requests = append(append([]PendingRequest(nil), s.Requests...), PendingRequest{Request: *request, Offset: r.Offset})
		}
	}
	return nil
}

// older reports whether spec, although it was written behind last, does not take its place: one of a lower sequence number,
// an earlier pass of the same exploration, or any pass of it after its end.
func older(spec, last *wire.Spec) bool {
	if spec.Sequence != last.Sequence {
		return spec.Sequence < last.Sequence
	}
	if spec.Exploration != last.Exploration {
		return false
	}
	if runs := spec.Status == wire.StatusRunning; runs != (last.Status == wire.StatusRunning) {
		return runs
	}
	return spec.Pass < last.Pass
}

func unanswered(requests []PendingRequest, handledOffset int64) []PendingRequest {
	var left []PendingRequest
	for _, r := range requests {
		if r.Offset >= handledOffset {
			left = append(left, r)
		}
	}
	return left
}

// without is the requests but those of the id.
func without(requests []PendingRequest, id string) []PendingRequest {
	var left []PendingRequest
	for _, r := range requests {
		if r.ID != id {
			left = append(left, r)
		}
	}
	return left
}

func (w *Watch) applyFeatureSet(s *State, decoder *arrowio.Decoder, r pipeline.Record) error {
	owner, id, current, ok := wire.ParseSetKey(r.Key)
	switch {
	case !ok || owner != w.pipeline:
		return nil
	case current:
		if r.Value == nil {
			return nil
		}
		current, err := wire.DecodeCurrent(decoder, r.Value)
		if err != nil {
			return err
		}
		if s.Current != nil && current.Sequence < s.Current.Sequence {
			s.CurrentShadowed = true
			return nil
		}
		s.Current, s.CurrentShadowed = current, false
	case r.Value == nil:
		s.Sets = maps.Clone(s.Sets)
		delete(s.Sets, id)
	default:
		set, err := wire.DecodeFeatureSet(decoder, r.Value)
		if err != nil {
			return err
		}
		if set.ID() != id {
			return fmt.Errorf("feature set %s under the key of %s", set.ID(), id)
		}
		s.Sets = maps.Clone(s.Sets)
		s.Sets[id] = PublishedSet{ID: id, Set: set, Time: r.Time}
	}
	return nil
}

// SetsBySequence lists the feature sets, the newest first.
func (s State) SetsBySequence() []PublishedSet {
	sets := make([]PublishedSet, 0, len(s.Sets))
	for _, set := range s.Sets {
		sets = append(sets, set)
	}
	sort.Slice(sets, func(i, j int) bool { return sets[i].Set.Lineage.Sequence > sets[j].Set.Lineage.Sequence })
	return sets
}

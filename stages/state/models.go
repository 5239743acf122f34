package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ErrNoModel reports that the models topic does not hold a model.
var ErrNoModel = errors.New("not on the models topic")

const (
	// pointersKept is the number of pointers remembered.
	pointersKept = 256
	// shortestID is the shortest prefix accepted for an id.
	shortestID = 6
)

// ModelEntry is a model on its topic.
type ModelEntry struct {
	ID     string
	Offset int64
	Time   time.Time // of the record
	// Model lacks its lists, which grow with features, classes or partitions: [Follower.LoadModel]
	// reads them. It is nil if this build cannot decode the record.
	Model *wire.Model
}

// Promoted reports whether the model was promoted, according to its record.
func (e ModelEntry) Promoted() bool { return e.Model != nil && e.Model.Promoted() }

// Models is the state of the models topic at one moment. It is immutable.
type Models struct {
	// Current names the current model; nil without one. If only an undecodable pointer is left,
	// Current is the newest promoted model.
	Current *wire.Current

	config   Config
	next     int64 // the next offset to read
	entries  map[string]ModelEntry
	promoted int // number of promoted entries
	// own is set while changes are applied to entries that no other snapshot shares.
	own bool
	// Later snapshots may have more elements past the end of this slice.
	pointers []placedPointer
}

type placedPointer struct {
	wire.Current
	offset int64
}

// CurrentEntry returns the current model. ok is false without one, or if the topic does not hold
// it.
func (m Models) CurrentEntry() (entry ModelEntry, ok bool) {
	if m.Current == nil {
		return ModelEntry{}, false
	}
	entry, ok = m.entries[m.Current.ID]
	return entry, ok
}

// Unreadable reports that the record of the current model is missing or damaged and the model is
// not pinned, so that another one should be trained.
func (m Models) Unreadable() bool {
	entry, _ := m.CurrentEntry()
	return m.Current != nil && m.Current.Pin == "" && entry.Model == nil
}

// Entries lists the models on the topic, newest first.
func (m Models) Entries() []ModelEntry {
	return slices.SortedFunc(maps.Values(m.entries), func(a, b ModelEntry) int { return cmp.Compare(b.Offset, a.Offset) })
}

// Next is the next offset to read.
func (m Models) Next() int64 { return m.next }

// TrainedAt is the time of the newest training; zero without one.
func (m Models) TrainedAt() (at time.Time) {
	for _, entry := range m.entries {
		if entry.Model != nil && entry.Model.TrainedAt.After(at) {
			at = entry.Model.TrainedAt
		}
	}
	return at
}

// Find returns the model with an id, or with an unambiguous prefix of an id.
func (m Models) Find(id string) (ModelEntry, error) {
	if entry, ok := m.entries[id]; ok {
		return entry, nil
	}
	var found []ModelEntry
	for _, entry := range m.Entries() {
		if len(id) >= shortestID && strings.HasPrefix(entry.ID, id) {
			found = append(found, entry)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return ModelEntry{}, fmt.Errorf("model %s is ambiguous: %s, %s", id, found[0].ID, found[1].ID)
	}
	return ModelEntry{}, fmt.Errorf("model %s is %w %s: it holds the %d newest promoted models and all of the last %v "+
		"(topics.keep_models, topics.features_retention)",
		id, ErrNoModel, m.config.Models, m.config.KeepModels, m.config.Retention)
}

// between returns the last pointer read between two offsets, except our own, which a retry may have
// written twice.
func (m Models) between(first, next int64, own wire.Current) *wire.Current {
	for _, p := range slices.Backward(m.pointers) {
		if p.offset >= first && p.offset < next && (p.ID != own.ID || !p.Time.Equal(own.Time)) {
			return &p.Current
		}
	}
	return nil
}

// LoadModel reads a model with its weights.
func (f *Follower) LoadModel(ctx context.Context, entry ModelEntry) (*wire.Model, error) {
	fetched, err := pipeline.Retry(ctx, f.logger, "read model "+entry.ID, func() (pipeline.Fetched, error) {
		return f.log.Fetch(pipeline.ForState(ctx), f.config.Models, 0, entry.Offset)
	})
	if err != nil {
		return nil, fmt.Errorf("read model %s: %w", entry.ID, err)
	}
	defer fetched.Release()
	if len(fetched.Records) == 0 || fetched.Records[0].Offset != entry.Offset {
		return nil, fmt.Errorf("read model %s: %w: compaction has just removed it", entry.ID, ErrNoModel)
	}
	model, err := wire.DecodeModel(arrowio.NewDecoder(f.config.Limits()), fetched.Records[0].Value)
	if err == nil {
		f.models.put(entry.ID, model)
	}
	return model, err
}

func (f *Follower) decodeModel(decoder *arrowio.Decoder, r pipeline.Record) (update, error) {
	owner, id, pointer, ok := wire.ParseSetKey(r.Key)
	switch {
	case !ok || owner != f.config.Pipeline:
		return nil, nil
	case pointer:
		current, err := decodePointer(r)
		if err != nil {
			return (*Snapshot).damageModelPointer, err
		}
		return func(s *Snapshot) { s.applyModelPointer(placedPointer{*current, r.Offset}) }, nil
	case r.Value == nil:
		return func(s *Snapshot) {
			s.Models.drop(id)
			s.repaired(RecordModel, id)
			if current := s.Models.Current; current != nil && current.ID == id {
				s.checkCurrentModel()
			}
		}, nil
	}
	model, err := wire.DecodeModel(decoder, r.Value)
	if err == nil && model.ID != id {
		err = fmt.Errorf("model %s is stored under the key of %s", model.ID, id)
	}
	if err != nil {
		model = nil
	}
	damaged := err != nil && !errors.Is(err, wire.ErrFormatVersion)
	entry := ModelEntry{ID: id, Offset: r.Offset, Time: r.Time, Model: withoutLists(model)}
	return func(s *Snapshot) {
		s.Models.put(entry)
		s.repaired(RecordModel, id)
		if damaged {
			s.damage(RecordModel, id, false)
		}
	}, err
}

// damageModelPointer applies an undecodable pointer. If compaction has left no other, the newest
// promoted model is taken as current, and a rollback is forgotten.
func (s *Snapshot) damageModelPointer() {
	m := &s.Models
	if m.Current == nil && m.promoted > 0 {
		entries := m.Entries()
		newest := entries[slices.IndexFunc(entries, ModelEntry.Promoted)]
		m.Current = &wire.Current{ID: newest.ID, Sequence: newest.Model.Sequence, Time: newest.Time}
	}
	if m.Current != nil {
		s.damage(RecordModelPointer, "", false)
	}
}

func (s *Snapshot) applyModelPointer(p placedPointer) {
	m := &s.Models
	if m.Current != nil && wire.CompareSequences(p.Sequence, m.Current.Sequence) < 0 {
		s.damage(RecordModelPointer, "", false)
		return
	}
	m.Current = &p.Current
	if len(m.pointers) == pointersKept {
		m.pointers = slices.Clone(m.pointers[pointersKept/2:])
	}
	m.pointers = append(m.pointers, p)
	s.dropRepairs(func(r Repair) bool {
		return r.Record == RecordModelPointer || r.Record == RecordModel && r.Gone
	})
	s.checkCurrentModel()
}

// checkCurrentModel adds a repair if the topic does not hold the current model.
func (s *Snapshot) checkCurrentModel() {
	if _, ok := s.Models.CurrentEntry(); s.Models.Current != nil && !ok {
		s.damage(RecordModel, s.Models.Current.ID, true)
	}
}

// put adds a model, or replaces the one with its id.
func (m *Models) put(entry ModelEntry) {
	m.drop(entry.ID)
	m.copyEntries()
	m.entries[entry.ID] = entry
	if entry.Promoted() {
		m.promoted++
	}
}

// drop removes a model.
func (m *Models) drop(id string) {
	entry, listed := m.entries[id]
	if !listed {
		return
	}
	m.copyEntries()
	delete(m.entries, id)
	if entry.Promoted() {
		m.promoted--
	}
}

// copyEntries copies the map that earlier snapshots share, once for all records of a fetch.
func (m *Models) copyEntries() {
	if !m.own {
		m.entries = maps.Clone(m.entries)
		if m.entries == nil {
			m.entries = map[string]ModelEntry{}
		}
		m.own = true
	}
}

// ModelBytes bounds the memory that a snapshot takes for each model.
const ModelBytes = 2 << 10

// withoutLists returns the part of a model that snapshots keep: with a model a minute, a week's
// retention has 10,000.
func withoutLists(model *wire.Model) *wire.Model {
	if model == nil {
		return nil
	}
	light, weights := *model, *model.Model
	weights.Theta = nil
	weights.Intercept = nil
	light.Model = &weights
	light.Judged = nil
	light.Label = nil
	light.Ranges = nil
	light.NotHeldOut = nil
	light.Metrics.LambdaPath = nil
	light.Metrics.Recall = nil
	light.Metrics.Calibration = nil
	light.Metrics.Decisions = nil
	return &light
}

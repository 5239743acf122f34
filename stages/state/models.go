package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ErrNoModel says that the models topic does not hold a model.
var ErrNoModel = errors.New("not on the models topic")

const (
	// pointersKept is how many pointers are remembered.
	pointersKept = 256
	// shortestID is how many characters of an id may stand for it.
	shortestID = 6
)

// ModelEntry is a model on its topic.
type ModelEntry struct {
	ID     string
	Offset int64
	Time   time.Time // of the record
	// Model lacks what grows with features, classes or partitions: [Follower.LoadModel] reads that. It is nil if this
	// build does not understand the record.
	Model *wire.Model
	// Damaged says that no build understands the record.
	Damaged bool
}

// Promoted reports whether the model was ever put in use, as far as its record says.
func (e ModelEntry) Promoted() bool { return e.Model != nil && e.Model.Promoted() }

// Models is what the models topic says at one moment. It is immutable.
type Models struct {
	// Current names the model in use, nil where there is none.
	Current *wire.Current
	// Shadowed says that a pointer with a lower sequence number, or one that cannot be decoded, was written after
	// Current. If compaction has kept only an undecodable one, Current is the newest model that was in use.
	Shadowed bool

	config Config
	next   int64 // offset after what was read
	// Later snapshots may have more elements past the ends of these slices.
	entries  []ModelEntry // ascending offsets
	pointers []placedPointer
}

type placedPointer struct {
	wire.Current
	offset int64
}

// CurrentEntry returns the model in use. ok is false if there is none or the topic does not hold it.
func (m Models) CurrentEntry() (entry ModelEntry, ok bool) {
	if m.Current == nil {
		return ModelEntry{}, false
	}
	return m.entry(m.Current.ID)
}

// Unreadable reports that the record of the model in use is missing or damaged and that the model is not pinned, so
// that it should be made again.
func (m Models) Unreadable() bool {
	entry, _ := m.CurrentEntry()
	return m.Current != nil && m.Current.Pin == "" && entry.Model == nil
}

// Entries lists the models on the topic, newest first.
func (m Models) Entries() []ModelEntry {
	list := slices.Clone(m.entries)
	slices.Reverse(list)
	return list
}

// Next is the offset after what was read of the topic.
func (m Models) Next() int64 { return m.next }

// TrainedAt is when the newest model was trained; zero without one.
func (m Models) TrainedAt() (at time.Time) {
	for _, entry := range m.entries {
		if entry.Model != nil && entry.Model.TrainedAt.After(at) {
			at = entry.Model.TrainedAt
		}
	}
	return at
}

func (m Models) entry(id string) (ModelEntry, bool) {
	for _, entry := range slices.Backward(m.entries) {
		if entry.ID == id {
			return entry, true
		}
	}
	return ModelEntry{}, false
}

// Find returns the model with an id, which may be abbreviated if that is unambiguous.
func (m Models) Find(id string) (ModelEntry, error) {
	if entry, ok := m.entry(id); ok {
		return entry, nil
	}
	var found []ModelEntry
	for _, entry := range slices.Backward(m.entries) {
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
	return ModelEntry{}, fmt.Errorf("model %s is %w %s: the newest %d that were in use are kept, and those of the last %v (topics.keep_models, topics.features_retention)",
		id, ErrNoModel, m.config.Models, m.config.KeepModels, m.config.Retention)
}

// between returns the last pointer read between two offsets, other than the given one: writing may take several tries.
func (m Models) between(first, next int64, but wire.Current) *wire.Current {
	for _, p := range slices.Backward(m.pointers) {
		if p.offset >= first && p.offset < next && (p.ID != but.ID || !p.Time.Equal(but.Time)) {
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
		return nil, fmt.Errorf("model %s is %w any more: compaction has just removed it", entry.ID, ErrNoModel)
	}
	return wire.DecodeModel(arrowio.NewDecoder(f.config.Limits()), fetched.Records[0].Value)
}

func (f *Follower) decodeModel(decoder *arrowio.Decoder, r pipeline.Record) (decoded, error) {
	owner, id, pointer, ok := wire.ParseSetKey(r.Key)
	switch {
	case !ok || owner != f.config.Pipeline:
		return nil, nil
	case pointer:
		current, err := decodePointer(decoder, r)
		if err != nil {
			return func(s *Snapshot) { s.Models.recoverCurrent() }, err
		}
		return func(s *Snapshot) { s.Models.point(placedPointer{*current, r.Offset}) }, nil
	case r.Value == nil:
		return func(s *Snapshot) { s.Models.drop(id) }, nil
	}
	model, err := wire.DecodeModel(decoder, r.Value)
	if err == nil && model.ID != id {
		err = fmt.Errorf("model %s under the key of %s", model.ID, id)
	}
	if err != nil {
		model = nil
	}
	entry := ModelEntry{ID: id, Offset: r.Offset, Time: r.Time, Model: withoutLists(model), Damaged: err != nil && !errors.Is(err, wire.ErrFormatVersion)}
	return func(s *Snapshot) {
		s.Models.drop(id)
		s.Models.entries = append(s.Models.entries, entry)
	}, err
}

// recoverCurrent marks the pointer as one to write again, if compaction would keep, or has kept, only a damaged record.
// A rollback that it named is lost.
func (m *Models) recoverCurrent() {
	for _, entry := range slices.Backward(m.entries) {
		if m.Current == nil && entry.Promoted() {
			m.Current = &wire.Current{ID: entry.ID, Sequence: entry.Model.Sequence, Time: entry.Time}
		}
	}
	m.Shadowed = m.Current != nil
}

func (m *Models) point(p placedPointer) {
	if m.Current != nil && p.Sequence < m.Current.Sequence {
		m.Shadowed = true
		return
	}
	m.Current, m.Shadowed = &p.Current, false
	if len(m.pointers) == pointersKept {
		m.pointers = slices.Clone(m.pointers[pointersKept/2:])
	}
	m.pointers = append(m.pointers, p)
}

// drop returns the list without a model, in a copy if it contained it.
func (m *Models) drop(id string) {
	if _, there := m.entry(id); there {
		m.entries = slices.DeleteFunc(slices.Clone(m.entries), func(e ModelEntry) bool { return e.ID == id })
	}
}

// ModelBytes bounds what is kept of a model.
const ModelBytes = 2 << 10

// withoutLists returns the part of a model that snapshots keep of each model younger than the retention: a model a minute
// for a week.
func withoutLists(model *wire.Model) *wire.Model {
	if model == nil {
		return nil
	}
	light, weights := *model, *model.Model
	weights.Theta, weights.Intercept = nil, nil
	light.Model, light.Judged, light.Label, light.Ranges, light.NotHeldOut = &weights, nil, nil, nil, nil
	light.Metrics.LambdaPath, light.Metrics.Recall, light.Metrics.Calibration = nil, nil, nil
	return &light
}

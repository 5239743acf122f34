package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ErrNoModel says that the models topic does not hold a model.
var ErrNoModel = errors.New("not on the models topic")

// ModelEntry is a model on its topic.
type ModelEntry struct {
	ID     string
	Offset int64
	Time   time.Time // of the record
	// Model is without weights, ranges and the path of λ; nil where this build does not understand the record.
	Model *wire.Model
}

// Promoted says that the model was in use once, as far as its record tells.
func (e ModelEntry) Promoted() bool { return e.Model != nil && e.Model.Promoted() }

// Models reads and writes the models topic of a pipeline. Not for use from several goroutines.
type Models struct {
	log      pipeline.Log
	logger   *zap.Logger
	pipeline string
	topics   TopicsConfig
	clock    func() time.Time
	decoder  *arrowio.Decoder

	next     int64 // first offset that was not read
	current  *wire.Current
	shadowed bool            // a pointer of a lower sequence number was written behind current
	pointers []placedPointer // those that the last refresh met
	entries  map[string]ModelEntry
	retired  map[string]bool // ids of which there is a tombstone
}

type placedPointer struct {
	wire.Current
	offset int64
}

// NewModels returns the models of the pipeline of a runtime, of which nothing was read.
func NewModels(r *Runtime) *Models {
	return &Models{
		log: r.Broker, logger: r.Logger, pipeline: r.Settings.Pipeline.Name, topics: r.Settings.Topics, clock: r.Clock,
		decoder: arrowio.NewDecoder(r.Watch.limits), next: pipeline.FirstOffset, entries: map[string]ModelEntry{}, retired: map[string]bool{},
	}
}

// Current is the pointer to the model in use, nil where there is none.
func (m *Models) Current() *wire.Current { return m.current }

// CurrentEntry is the model in use; ok is false where there is none, or where the topic does not hold it.
func (m *Models) CurrentEntry() (entry ModelEntry, ok bool) {
	if m.current == nil {
		return ModelEntry{}, false
	}
	entry, ok = m.entries[m.current.ID]
	return entry, ok
}

// Entries lists the models that the topic holds, the newest first.
func (m *Models) Entries() []ModelEntry {
	list := make([]ModelEntry, 0, len(m.entries))
	for _, entry := range m.entries {
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b ModelEntry) int { return int(b.Offset - a.Offset) })
	return list
}

// newest is when the newest model was trained; zero without one.
func (m *Models) newest() (at time.Time) {
	for _, entry := range m.entries {
		if entry.Model != nil && entry.Model.TrainedAt.After(at) {
			at = entry.Model.TrainedAt
		}
	}
	return at
}

// Refresh reads what was written since it was called last.
func (m *Models) Refresh(ctx context.Context) error {
	m.pointers = m.pointers[:0]
	r := pipeline.NewReader(m.log, m.logger, m.topics.Models, 0, pipeline.ReadOptions{From: m.next, Until: pipeline.PresentEnd})
	for rec, err := range r.Records(ctx) {
		if err != nil {
			return err
		}
		m.take(rec)
	}
	m.next = r.NextOffset()
	return nil
}

// take notes what a record says.
func (m *Models) take(rec pipeline.Record) {
	owner, id, pointer, ok := wire.ParseSetKey(rec.Key)
	switch {
	case !ok || owner != m.pipeline, pointer && rec.Value == nil:
	case pointer:
		m.takePointer(rec)
	case rec.Value == nil:
		delete(m.entries, id)
		m.retired[id] = true
	default:
		model, err := wire.DecodeModel(m.decoder, rec.Value)
		if err == nil && model.ID != id {
			err = fmt.Errorf("model %s under the key of %s", model.ID, id)
		}
		if err != nil {
			m.logger.Warn("model not understood, ignored", zap.String("model", id), zap.Error(err))
			model = nil
		}
		m.entries[id] = ModelEntry{ID: id, Offset: rec.Offset, Time: rec.Time, Model: withoutWeights(model)}
		delete(m.retired, id)
	}
}

func (m *Models) takePointer(rec pipeline.Record) {
	pointer, err := wire.DecodeCurrent(m.decoder, rec.Value)
	if err != nil {
		m.logger.Error("pointer to the model in use not understood, ignored", zap.Int64("offset", rec.Offset), zap.Error(err))
		return
	}
	if m.current != nil && pointer.Sequence < m.current.Sequence {
		m.shadowed = true
		return
	}
	m.current, m.shadowed = pointer, false
	m.pointers = append(m.pointers, placedPointer{*pointer, rec.Offset})
}

// withoutWeights is what is kept of a model while others are looked at.
func withoutWeights(model *wire.Model) *wire.Model {
	if model == nil {
		return nil
	}
	light, weights := *model, *model.Model
	weights.Theta = nil
	light.Model, light.Judged, light.Ranges, light.Metrics.LambdaPath = &weights, nil, nil, nil
	return &light
}

// Find returns the model of an id, which may be cut short where that leaves no doubt. The error says whether the model is
// unknown, or was on the topic and is no longer kept.
func (m *Models) Find(id string) (ModelEntry, error) {
	if entry, ok := m.entries[id]; ok {
		return entry, nil
	}
	const shortest = 6
	var found []ModelEntry
	for _, entry := range m.Entries() {
		if len(id) >= shortest && len(entry.ID) > len(id) && entry.ID[:len(id)] == id {
			found = append(found, entry)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return ModelEntry{}, fmt.Errorf("model %s is ambiguous: %s, %s", id, found[0].ID, found[1].ID)
	case m.wasThere(id):
		return ModelEntry{}, fmt.Errorf("model %s is %w any more: the newest %d that were in use are kept, and those of the last %v (topics.keep_models, topics.features_retention)",
			id, ErrNoModel, m.topics.KeepModels, m.topics.FeaturesRetention)
	}
	return ModelEntry{}, fmt.Errorf("model %s is %w %s, and nothing there mentions it", id, ErrNoModel, m.topics.Models)
}

// wasThere says that the topic mentions a model which it does not hold.
func (m *Models) wasThere(id string) bool {
	if m.retired[id] || m.current != nil && (m.current.ID == id || m.current.Replaced == id) {
		return true
	}
	for _, entry := range m.entries {
		if entry.Model != nil && entry.Model.Judgement != nil && entry.Model.Judgement.Incumbent == id {
			return true
		}
	}
	return false
}

// Load reads a model with its weights.
func (m *Models) Load(ctx context.Context, entry ModelEntry) (*wire.Model, error) {
	r := pipeline.NewReader(m.log, m.logger, m.topics.Models, 0, pipeline.ReadOptions{From: entry.Offset, Until: entry.Offset + 1})
	fetched, err := r.Next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read model %s: %w", entry.ID, err)
	}
	if len(fetched.Records) == 0 {
		return nil, fmt.Errorf("model %s is %w any more: compaction has just removed it", entry.ID, ErrNoModel)
	}
	return wire.DecodeModel(m.decoder, fetched.Records[0].Value)
}

// write appends a record.
func (m *Models) write(ctx context.Context, what string, record pipeline.Record) (offset int64, err error) {
	offset, err = pipeline.Retry(ctx, m.logger, what, func() (int64, error) {
		return m.log.Produce(ctx, m.topics.Models, 0, []pipeline.Record{record})
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return offset, nil
}

// writePointer appends a pointer. Its sequence number is no lower than that of the one before, so that no reader ignores it.
func (m *Models) writePointer(ctx context.Context, pointer *wire.Current) (offset int64, err error) {
	if m.current != nil {
		pointer.Sequence = max(pointer.Sequence, m.current.Sequence)
	}
	value, err := wire.EncodeCurrent(pointer)
	if err != nil {
		return 0, pipeline.Permanent(err)
	}
	return m.write(ctx, "make model "+pointer.ID+" current",
		pipeline.Record{Key: wire.CurrentKey(m.pipeline), Value: value, Time: pointer.Time})
}

// point makes a model current by what was read so far. Where somebody else's pointer came between the reading and the writing,
// a rollback by hand or one of another trainer, that one is put back, as the choice was made without it; stays is false then.
func (m *Models) point(ctx context.Context, pointer wire.Current) (stays bool, err error) {
	for stays = true; ; stays = false {
		known := m.next
		offset, err := m.writePointer(ctx, &pointer)
		if err != nil {
			return false, err
		}
		if err := m.Refresh(ctx); err != nil {
			return false, err
		}
		other := m.between(known, offset, pointer)
		if other == nil {
			return stays, nil
		}
		m.logger.Warn("a pointer to another model was written meanwhile, it is put back",
			zap.String("model", pointer.ID), zap.String("other", other.ID))
		pointer = *other
	}
}

// between is the last pointer that the refresh met between two offsets and that is not the one given: writing may take
// several tries.
func (m *Models) between(first, next int64, but wire.Current) *wire.Current {
	for _, p := range slices.Backward(m.pointers) {
		if p.offset >= first && p.offset < next && (p.ID != but.ID || !p.Time.Equal(but.Time)) {
			return &p.Current
		}
	}
	return nil
}

// repair writes the pointer again behind an older one, which compaction would keep.
func (m *Models) repair(ctx context.Context) error {
	if !m.shadowed {
		return nil
	}
	m.logger.Warn("an older pointer to a model was written behind the last one, which is written again", zap.String("model", m.current.ID))
	m.shadowed = false
	_, err := m.point(ctx, *m.current)
	return err
}

package featurize

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"weak"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

// Settings control the mapping of messages with any feature set.
type Settings struct {
	Source events.Source // how events are read
	// MaxOutputBytes is the largest output message of more than one row.
	MaxOutputBytes int64
	// Amplification bounds the output bytes for each byte of a message; 0 = the bytes of one row.
	Amplification int64
	// CompressedAmplification is the same for each byte of a message as stored by the broker; 0 =
	// 1,024 rows.
	CompressedAmplification int64
	// Predictions adds prediction columns to the output. They are null until [Featurizer.UseModel].
	Predictions bool
	// Threshold is that of [Pair].
	Threshold float64
	// PredictionColumn names the column of events with the predictions to compare with labels;
	// empty = compare those of the model.
	PredictionColumn string
}

// preparedSet is everything that mapping derives from a feature set: the packed features, the
// reading and cutting of messages, and the columns of the output. It is immutable, and the
// partitions of a process share it.
type preparedSet struct {
	Settings
	id        string
	set       *wire.FeatureSet
	transform *scoring.Transformer

	columns      []string // passthrough and label, in the order of the output
	labelColumns []string
	label        *label    // nil = the set has no label
	missing      []float64 // shares of missing values of the encoder's columns in calibration

	rowBytes  int64 // assumed size of a row in an output message
	partRows  int32 // rows of a source message that one output message covers
	chunkRows int32 // rows that are encoded at a time, a multiple of partRows
}

// passthroughRowBytes is the assumed size of a row's passthrough and label columns when messages
// are cut.
const passthroughRowBytes = 64

// prepare derives everything from a set. The only error is a permanent one: the output of the set
// cannot have predictions.
func prepare(set *wire.FeatureSet, settings Settings) (*preparedSet, error) {
	p := &preparedSet{
		Settings:  settings,
		id:        set.ID(),
		set:       set,
		transform: scoring.NewTransformer(&set.Set),
		columns:   events.OutputColumns(set.Encoder),
		label:     newLabel(set, settings.PredictionColumn),
	}
	var known []string
	p.missing, known = columnsOf(set)
	if known != nil {
		p.Source.Known = slices.Concat(known, set.Encoder.Passthrough, []string{settings.PredictionColumn})
	}
	var predictionBytes int64
	if settings.Predictions {
		if err := checkPredictable(set, settings.Threshold); err != nil {
			return nil, err
		}
		p.label.attached = true
		p.label.cut = training.Cut(settings.Threshold)
		predictionBytes = p.label.columns.RowBytes()
	}
	if p.label != nil {
		p.labelColumns = set.Encoder.Label.Columns
	}
	// Output messages cover a fixed number of source rows, so that a replay cuts the same way.
	chunk := min(events.ChunkRows(set.Encoder.Dim), math.MaxInt32)
	p.rowBytes = int64(4*p.transform.Len()) + passthroughRowBytes + predictionBytes
	if !p.set.Lineage.Identity.ByPlace() {
		p.rowBytes += 8
	}
	part := min(max(1, p.MaxOutputBytes/p.rowBytes), chunk)
	p.partRows, p.chunkRows = int32(part), int32(chunk/part*part)
	return p, nil
}

// preparedSets shares prepared sets between partitions. The zero value is ready for concurrent use.
type preparedSets struct {
	mu   sync.Mutex
	sets map[string]weak.Pointer[preparedSet]
}

// of returns a prepared set. Concurrent callers for the same set prepare it once.
func (s *preparedSets) of(id string, set *wire.FeatureSet, settings Settings) (*preparedSet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.sets[id].Value(); p != nil {
		return p, nil
	}
	for other, used := range s.sets {
		if used.Value() == nil {
			delete(s.sets, other)
		}
	}
	if s.sets == nil {
		s.sets = map[string]weak.Pointer[preparedSet]{}
	}
	p, err := prepare(set, settings)
	if err == nil {
		s.sets[id] = weak.Make(p)
	}
	return p, err
}

// findSet returns a feature set: the current one, or one from the topic.
func (p *partition) findSet(ctx context.Context, now state.Snapshot, id string) (*preparedSet, error) {
	if current := now.CurrentSet(); current != nil && current.ID == id {
		return p.runner.sets.of(id, current.Set, p.runner.settings())
	}
	entry, ok := now.Sets[id]
	if !ok {
		return nil, fmt.Errorf("feature set %s is %w", id, state.ErrNoSet)
	}
	set, err := p.runner.Env.State.LoadSet(ctx, entry)
	if err != nil {
		return nil, err
	}
	return p.runner.sets.of(id, set, p.runner.settings())
}

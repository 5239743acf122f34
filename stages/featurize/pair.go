package featurize

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/training"
)

// Pair is a feature set, with or without a model, that is ready to map rows. It is immutable and
// shared. Each goroutine needs its own [Mapper].
type Pair struct {
	Set   *wire.FeatureSet
	Model *wire.Model // nil = features only
	// Threshold is the probability of the second of two classes above which it is decided; 0 = the
	// more probable class. [Pair.At] sets it.
	Threshold float64

	id        string
	rows      *encoder.Encoder // without the label if rows need not have it
	transform *scoring.Transformer
	label     *label // nil without a model
}

// NewPair prepares a set and a model, nil = none. It is an error if the model belongs to another
// set.
func NewPair(set *wire.FeatureSet, model *wire.Model) (*Pair, error) {
	return newPair(set, unlabelled(set), model)
}

// newPair is NewPair with another version of the set for encoding rows.
func newPair(set, rows *wire.FeatureSet, model *wire.Model) (*Pair, error) {
	p := &Pair{Set: set, Model: model, id: set.ID(), rows: rows.Encoder, transform: scoring.NewTransformer(&rows.Set)}
	if model == nil {
		return p, nil
	}
	if err := model.CheckSet(set); err != nil {
		return nil, err
	}
	if err := checkPredictable(set, 0); err != nil {
		return nil, err
	}
	p.label = newLabel(set, "")
	p.label.attached = true
	return p, nil
}

// At returns the pair with another threshold of its decisions: the second of two classes is decided
// if its probability is above it; 0 = the more probable class. Without a model there is nothing to
// decide. It is an error if the model has no probabilities of two classes.
func (p *Pair) At(threshold float64) (*Pair, error) {
	if threshold == 0 || p.Model == nil {
		return p, nil
	}
	if err := training.CheckThreshold(threshold, len(p.Classes()), p.Model.Model.Loss); err != nil {
		return nil, fmt.Errorf("decide with model %s: %w", p.Model.ID, err)
	}
	at, label := *p, *p.label
	label.cut = training.Cut(threshold)
	at.label, at.Threshold = &label, threshold
	return &at, nil
}

// unlabelled returns the set without its label.
func unlabelled(set *wire.FeatureSet) *wire.FeatureSet {
	bare, enc := *set, *set.Encoder
	enc.Label = nil
	bare.Encoder = &enc
	return &bare
}

// SetID is the id of the feature set.
func (p *Pair) SetID() string { return p.id }

// ModelID is the id of the model, empty without one.
func (p *Pair) ModelID() string {
	if p.Model == nil {
		return ""
	}
	return p.Model.ID
}

// Encoder is the encoder of the rows.
func (p *Pair) Encoder() *encoder.Encoder { return p.rows }

// Features is M, the number of features of a row.
func (p *Pair) Features() int { return p.transform.Len() }

// Outputs is the number of values that a regression predicts for a row; 0 for classes and without a
// model.
func (p *Pair) Outputs() int {
	if p.Model == nil || p.Set.Task != scoring.Regression {
		return 0
	}
	return p.Set.Encoder.Outputs()
}

// Classes are the classes of a classification; nil for a regression and without a model.
func (p *Pair) Classes() []string {
	if p.Model == nil || p.Set.Task == scoring.Regression {
		return nil
	}
	return p.Set.Encoder.Label.Classes
}

// Probabilities reports whether the model gives probabilities of classes.
func (p *Pair) Probabilities() bool {
	return p.Classes() != nil && p.Model.Model.Loss == training.LossLogistic
}

// Mapped is the result of a [Mapper] for the usable rows, in their order.
type Mapped struct {
	Total         int       // rows, including unusable ones
	Row           []int32   // number of each usable row
	Features      []float32 // [rows·M] row-major, if asked for
	Prediction    []float64 // [rows·K] of a regression
	Class         []int32   // [rows] number of the class
	Probabilities []float32 // [rows·C]
	Spread        []float64 // see [Pair.SpreadWidth]; if [Mapper.AddSpread] was called
	Rejected      []encoder.Rejection
	Counts        encoder.Counts
}

// Mapper maps rows by the same functions as the stage, so that a row gives the same bits. It
// belongs to one goroutine, and each call overwrites the previous result.
type Mapper struct {
	pair      *Pair
	predictor *predictor   // nil = no model
	rows      encoder.Rows // reused, as is all that follows
	features  []float32    // of a block
	spreads   *spreads     // nil = not wanted
	made      Mapped
}

// NewMapper returns a mapper of the pair.
func (p *Pair) NewMapper() *Mapper {
	m := &Mapper{pair: p}
	if p.Model != nil {
		m.predictor = p.label.predictor()
		m.predictor.use(p.Model, "")
	}
	return m
}

// Map maps the rows of all batches, which are numbered consecutively: to features if wanted, and to
// predictions if the pair has a model. It calls more between blocks of rows and stops on its error.
func (m *Mapper) Map(batches []arrow.Record, features bool, more func() error) (*Mapped, error) {
	m.made = Mapped{
		Row:           m.made.Row[:0],
		Features:      m.made.Features[:0],
		Prediction:    m.made.Prediction[:0],
		Class:         m.made.Class[:0],
		Probabilities: m.made.Probabilities[:0],
		Spread:        m.made.Spread[:0],
		Rejected:      m.made.Rejected[:0],
	}
	for _, batch := range batches {
		base := int32(m.made.Total)
		err := events.EachChunk(batch, m.pair.rows.Dim, func(first int64, chunk arrow.Record) error {
			if err := m.pair.rows.Encode(&m.rows, chunk, nil); err != nil {
				return err
			}
			return m.chunk(base+int32(first), features, more)
		})
		if err != nil {
			return nil, fmt.Errorf("map rows: %w", err)
		}
		m.made.Total += int(batch.NumRows())
	}
	return &m.made, nil
}

// chunk maps the encoded rows in blocks; base is the number of the first row.
func (m *Mapper) chunk(base int32, features bool, more func() error) error {
	m.made.Counts.Add(m.rows.Counts)
	for _, r := range m.rows.Rejected {
		r.Row += base
		m.made.Rejected = append(m.made.Rejected, r)
	}
	for _, row := range m.rows.Row {
		m.made.Row = append(m.made.Row, base+row)
	}
	for first := 0; first < m.rows.N; first += predictionBlock {
		if err := more(); err != nil {
			return err
		}
		m.block(first, min(first+predictionBlock, m.rows.N), features)
	}
	return nil
}

// block maps the encoded rows from first up to, not including, next.
func (m *Mapper) block(first, next int, features bool) {
	n, width := next-first, m.pair.transform.Len()
	phi := m.room(n*width, features)
	m.pair.transform.Transform(phi, m.rows.X[first*m.rows.Dim:next*m.rows.Dim], n)
	if m.predictor == nil {
		return
	}
	places := wire.FeaturesBody{Features: phi}
	if m.predictor.columns.Classes == nil {
		m.made.Prediction, places.Prediction = extend(m.made.Prediction, n*m.predictor.label.outputs)
	} else {
		m.made.Class, places.Class = extend(m.made.Class, n)
	}
	if m.predictor.columns.Probabilities {
		m.made.Probabilities, places.Probabilities = extend(m.made.Probabilities, n*len(m.predictor.label.classes))
	}
	m.predictor.predict(&places, 0, n)
	if m.spreads != nil {
		var values []float64
		m.made.Spread, values = extend(m.made.Spread, n*m.spreads.width)
		m.spreads.write(values, phi, places.Class)
	}
}

// room returns memory for n features: part of the result, or memory that the next block overwrites.
func (m *Mapper) room(n int, keep bool) (room []float32) {
	if keep {
		m.made.Features, room = extend(m.made.Features, n)
		return room
	}
	m.features = slices.Grow(m.features[:0], n)[:n]
	return m.features
}

// extend returns the list with n more values, and the slice of the new values.
func extend[T any](list []T, n int) (longer, more []T) {
	longer = slices.Grow(list, n)[:len(list)+n]
	return longer, longer[len(list):]
}

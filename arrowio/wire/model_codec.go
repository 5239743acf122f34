package wire

import (
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/training"
)

// modelDocument is the metadata of a model. The weights are columns.
type modelDocument struct {
	ID              string         `json:"id"`
	Pipeline        string         `json:"pipeline"`
	FeatureSet      string         `json:"feature_set"`
	Sequence        int64          `json:"sequence"`
	Features        int            `json:"features"`
	Outputs         int            `json:"outputs"`
	Intercept       []float64      `json:"intercept"`
	Lambda          float64        `json:"lambda"`
	Loss            string         `json:"loss"`
	Label           *encoder.Label `json:"label,omitempty"`
	Metrics         Metrics        `json:"metrics"`
	TrainRows       int64          `json:"train_rows"`
	HeldOutRows     int64          `json:"held_out_rows"`
	HeldOutSeed     uint64         `json:"held_out_seed"`
	HeldOutFraction float64        `json:"held_out_fraction"`
	SampleRate      float64        `json:"sample_rate,omitempty"`
	Window          string         `json:"window,omitempty"`
	Ranges          []Range        `json:"ranges"`
	NotHeldOut      []Span         `json:"not_held_out,omitempty"`
	TrainedAt       time.Time      `json:"trained_at,omitzero"`
	ConfigHash      string         `json:"config_hash,omitempty"`
	JudgedIntercept []float64      `json:"judged_intercept,omitempty"`
	Judgement       *Judgement     `json:"judgement,omitempty"`
}

// columnJudged is the column of the weights fitted without the held-out rows.
const columnJudged = "judged_theta"

// ModelID names a model by what it computes: "m-" and the first 32 hexadecimal digits of the SHA-256 over
//
//	"eerf.model/1"
//	feature set     its id
//	loss            its name
//	shape           M, K: two int64
//	theta           float64, [M][K] as in the column
//	intercept       float64, [K]
//	lambda          one float64
//
// each part preceded by its length in bytes as uint64, every number little-endian. Metrics and lineage
// are not hashed. It panics on a model that [Model.Validate] refuses.
func ModelID(m *Model) string {
	if err := m.Validate(); err != nil {
		panic(fmt.Sprintf("wire: id of an invalid model: %v", err))
	}
	w := m.Model
	h := newIDHash("eerf.model/1")
	h.text(m.FeatureSetID)
	h.text(w.Loss)
	h.int64s(int64(w.Features), int64(w.Outputs))
	h.float64s(transpose(w.Theta, w.Outputs, w.Features))
	h.float64s(w.Intercept)
	h.float64s([]float64{w.Lambda})
	return h.id("m-")
}

// EncodeModel returns the message for m, with one row per feature, in the order of the feature set.
func EncodeModel(m *Model) ([]byte, error) {
	if m == nil {
		return nil, fmt.Errorf("encode model: %w", errMissing)
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("encode model on feature set %q: %w", m.FeatureSetID, err)
	}
	id := ModelID(m)
	if m.ID != "" && m.ID != id {
		return nil, fmt.Errorf("encode model %q: %w: the content is that of %s", m.ID, ErrHashMismatch, id)
	}
	w := m.Model
	doc := modelDocument{
		ID: id, Pipeline: m.Pipeline, FeatureSet: m.FeatureSetID, Sequence: m.Sequence,
		Features: w.Features, Outputs: w.Outputs, Intercept: w.Intercept, Lambda: w.Lambda, Loss: w.Loss,
		Label: m.Label, Metrics: m.Metrics, TrainRows: m.TrainRows, HeldOutRows: m.HeldOutRows,
		HeldOutSeed: m.HeldOutSeed, HeldOutFraction: m.HeldOutFraction, SampleRate: m.SampleRate, Window: m.Window,
		Ranges: m.Ranges, NotHeldOut: m.NotHeldOut, TrainedAt: canonicalTime(m.TrainedAt), ConfigHash: m.ConfigHash, Judgement: m.Judgement,
	}
	columns := []column{numbers("feature", ordinals(w.Features)), weightColumn("theta", w)}
	if m.Judged != nil {
		doc.JudgedIntercept = m.Judged.Intercept
		columns = append(columns, weightColumn(columnJudged, m.Judged))
	}
	value, err := encodeMessage(KeyModel, &doc, nil, columns...)
	if err != nil {
		return nil, fmt.Errorf("encode model %s: %w", id, err)
	}
	return value, nil
}

// weightColumn has a list of K weights for each feature.
func weightColumn(name string, w *training.Model) column {
	return listColumn(numbers(name, transpose(w.Theta, w.Outputs, w.Features)), w.Features, w.Outputs)
}

// DecodeModel reads a message that [EncodeModel] wrote. The result is valid ([Model.Validate]) and
// hashes to the ID in the message; otherwise the error wraps [ErrHashMismatch].
func DecodeModel(dec *arrowio.Decoder, value []byte) (*Model, error) {
	var doc modelDocument
	rec, err := decodeMessage(dec, value, KeyModel, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode model: %w", err)
	}
	defer rec.Release()
	m, err := readModel(rec, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode model %q: %w", cutText(doc.ID, maxNameBytes), err)
	}
	return m, nil
}

// readModel builds the model and checks it against its ID.
func readModel(rec arrow.Record, doc *modelDocument) (*Model, error) {
	if err := readTimes(&doc.TrainedAt); err != nil {
		return nil, err
	}
	weights, err := readWeights(rec, doc)
	if err != nil {
		return nil, err
	}
	m := &Model{
		ID: doc.ID, Pipeline: doc.Pipeline, FeatureSetID: doc.FeatureSet,
		Sequence: doc.Sequence, Model: weights, Label: doc.Label, Metrics: doc.Metrics,
		TrainRows: doc.TrainRows, HeldOutRows: doc.HeldOutRows,
		HeldOutSeed: doc.HeldOutSeed, HeldOutFraction: doc.HeldOutFraction, SampleRate: doc.SampleRate, Window: doc.Window,
		Ranges: doc.Ranges, NotHeldOut: doc.NotHeldOut, TrainedAt: doc.TrainedAt, ConfigHash: doc.ConfigHash, Judgement: doc.Judgement,
	}
	if m.Judged, err = readJudged(rec, doc); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if id := ModelID(m); id != m.ID {
		return nil, fmt.Errorf("%w: the content is that of %s", ErrHashMismatch, id)
	}
	return m, nil
}

// readWeights copies the weights out of a model's columns and metadata.
func readWeights(rec arrow.Record, doc *modelDocument) (*training.Model, error) {
	m, k := doc.Features, doc.Outputs
	if m < 1 || k < 1 || rec.NumRows() != int64(m) {
		return nil, fmt.Errorf("%w: %d rows, but metadata says %d features and %d outputs",
			ErrMalformed, rec.NumRows(), m, k)
	}
	r := &reader{rec: rec}
	for i, f := range values[int32](r, "feature") {
		if int(f) != i {
			r.fail("row %d is of feature %d", i, f)
		}
	}
	theta := lists[float64](r, "theta", k)
	if r.err != nil {
		return nil, r.err
	}
	return &training.Model{
		Features: m, Outputs: k, Theta: transpose(theta, m, k),
		Intercept: doc.Intercept, Lambda: doc.Lambda, Loss: doc.Loss,
	}, nil
}

// readJudged copies the weights fitted without the held-out rows, if the model has them.
func readJudged(rec arrow.Record, doc *modelDocument) (*training.Model, error) {
	r := &reader{rec: rec}
	if !r.has(columnJudged) {
		return nil, nil
	}
	theta := lists[float64](r, columnJudged, doc.Outputs)
	if r.err != nil {
		return nil, r.err
	}
	return &training.Model{
		Features: doc.Features, Outputs: doc.Outputs, Theta: transpose(theta, doc.Features, doc.Outputs),
		Intercept: doc.JudgedIntercept, Lambda: doc.Lambda, Loss: doc.Loss,
	}, nil
}

// ordinals returns 0 to n-1.
func ordinals(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(i)
	}
	return v
}

package wire

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/training"
)

// modelFields is the metadata of a model. The weights are columns.
type modelFields struct {
	*Model
	Theta           []float64  `json:"theta,omitempty" bound:"list 1"` // hides the field of the weights; always absent
	JudgedIntercept []float64  `json:"judged_intercept,omitempty" bound:"list 1024 of -1e100..1e100"`
	Judgement       *Judgement `json:"judgement,omitempty"`
}

// columnJudged is the column of the weights fitted without the held-out rows.
const columnJudged = "judged_theta"

// ModelID names a model by its mathematics: "m-" and the first 32 hexadecimal digits of the
// SHA-256 over
//
//	"eerf.model/1"
//	feature set     its id
//	loss            its name
//	shape           M, K: two int64
//	theta           float64, [M][K] as in the column
//	intercept       float64, [K]
//	lambda          one float64
//
// each part preceded by its length in bytes as uint64, every number little-endian. Metrics and
// lineage are not hashed. It panics on a model that [Model.Validate] refuses.
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
	canonical := *m
	canonical.ID, canonical.TrainedAt = id, canonicalTime(m.TrainedAt)
	doc := modelFields{Model: &canonical, Judgement: m.Judgement}
	columns := []column{numbers("feature", ordinals(w.Features)), weightColumn("theta", w)}
	if m.Judged != nil {
		doc.JudgedIntercept = m.Judged.Intercept
		columns = append(columns, weightColumn(columnJudged, m.Judged))
	}
	value, err := modelMetadata.encodeMessage(&doc, nil, columns...)
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
	doc := modelFields{Model: &Model{Model: &training.Model{}}}
	rec, err := modelMetadata.decodeMessage(dec, value, &doc)
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

// readModel completes the model and checks it against its ID.
func readModel(rec arrow.Record, doc *modelFields) (*Model, error) {
	m := doc.Model
	m.TrainedAt = canonicalTime(m.TrainedAt)
	if m.Features < 1 || m.Outputs < 1 || rec.NumRows() != int64(m.Features) {
		return nil, fmt.Errorf(
			"%w: %d rows, but metadata declares %d features and %d outputs",
			ErrMalformed,
			rec.NumRows(),
			m.Features,
			m.Outputs,
		)
	}
	r := &reader{rec: rec}
	for i, f := range values[int32](r, "feature") {
		if int(f) != i {
			r.fail("row %d is of feature %d", i, f)
		}
	}
	m.Theta, m.Judgement = readWeights(r, "theta", m), doc.Judgement
	if r.has(columnJudged) {
		judged := *m.Model
		judged.Theta, judged.Intercept = readWeights(r, columnJudged, m), doc.JudgedIntercept
		m.Judged = &judged
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if id := ModelID(m); id != m.ID {
		return nil, fmt.Errorf("%w: the content is that of %s", ErrHashMismatch, id)
	}
	return m, nil
}

// readWeights copies a column of weights.
func readWeights(r *reader, name string, m *Model) []float64 {
	theta := lists[float64](r, name, m.Outputs)
	if theta == nil {
		return nil
	}
	return transpose(theta, m.Features, m.Outputs)
}

// ordinals returns 0 to n-1.
func ordinals(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(i)
	}
	return v
}

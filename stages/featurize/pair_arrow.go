package featurize

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Message encodes the last mapping as one Arrow IPC stream: with features, a message of the
// features topic without passthrough columns; otherwise the columns row, prediction and, if the
// model has them, probabilities. The schema metadata name the set and the model.
func (m *Mapper) Message(features bool) ([]byte, error) {
	if features {
		return m.featuresMessage()
	}
	if m.predictor == nil {
		return nil, fmt.Errorf("predictions: %s", missingModel)
	}
	return m.predictionsMessage()
}

func (m *Mapper) featuresMessage() ([]byte, error) {
	layout := wire.FeaturesLayout{FeatureSet: m.pair.id, Features: m.pair.transform.Len()}
	if m.predictor != nil {
		layout.Predictions = &m.predictor.columns
	}
	rows := array.NewRecord(arrow.NewSchema(nil, nil), nil, int64(len(m.made.Row)))
	defer rows.Release()
	body, err := wire.ReserveFeatures(nil, rows, m.made.Row, layout)
	if err != nil {
		return nil, err
	}
	copy(body.Features, m.made.Features)
	m.fill(&body)
	return body.Value, nil
}

func (m *Mapper) predictionsMessage() ([]byte, error) {
	numbers := array.NewInt32Builder(memory.DefaultAllocator)
	defer numbers.Release()
	numbers.AppendValues(m.made.Row, nil)
	columns := append([]arrow.Array{numbers.NewArray()}, m.predictions()...)
	defer releaseAll(columns)
	fields := []arrow.Field{{Name: wire.ColumnRow, Type: arrow.PrimitiveTypes.Int32}}
	fields = append(fields, m.predictor.columns.Fields()...)
	keys := []string{wire.HeaderFeatureSet, wire.HeaderModel}
	meta := arrow.NewMetadata(keys, []string{m.pair.id, m.pair.ModelID()})
	schema := arrow.NewSchema(fields, &meta)
	out := array.NewRecord(schema, columns, int64(len(m.made.Row)))
	defer out.Release()
	return arrowio.EncodeStream(schema, out)
}

// predictions returns the columns of the predictions.
func (m *Mapper) predictions() []arrow.Array {
	places, columns := m.predictor.columns.Reserve(len(m.made.Row))
	m.fill(&places)
	return columns
}

// fill copies the predictions to their places.
func (m *Mapper) fill(places *wire.FeaturesBody) {
	copy(places.Prediction, m.made.Prediction)
	copy(places.Class, m.made.Class)
	copy(places.Probabilities, m.made.Probabilities)
}

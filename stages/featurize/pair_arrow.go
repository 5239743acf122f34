package featurize

import (
	"fmt"
	"slices"

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

// AnswerFields are the columns of [Mapper.Answer].
func (m *Mapper) AnswerFields(features bool) []arrow.Field {
	var fields []arrow.Field
	if features {
		fields = append(fields, arrow.Field{Name: wire.ColumnFeatures, Type: m.vectors()})
	}
	if m.predictor != nil {
		predictions := m.predictor.columns.Fields()
		nameElements(predictions, m.pair.Set.Encoder.Label)
		fields = append(fields, predictions...)
	}
	for i := range fields {
		fields[i].Nullable = true
	}
	return fields
}

// Answer returns mappings of consecutive rows, by mappers of the same pair, as columns aligned with
// the rows: unusable rows are null. The columns may point into the mappings. The caller releases
// them.
func (m *Mapper) Answer(parts []*Mapped, features bool) []arrow.Array {
	total, usable := 0, 0
	for _, part := range parts {
		total += part.Total
		usable += len(part.Row)
	}
	var columns []arrow.Array
	if features {
		values := parts[0].Features
		if len(parts) > 1 || usable < total {
			values = make([]float32, total*m.pair.Features())
			spread(values, parts, func(p *Mapped) []float32 { return p.Features })
		}
		columns = append(columns, vectorsOf(m.vectors(), values, total))
	}
	if m.predictor != nil {
		places, predictions := m.predictor.columns.Reserve(total)
		spread(places.Prediction, parts, func(p *Mapped) []float64 { return p.Prediction })
		spread(places.Class, parts, func(p *Mapped) []int32 { return p.Class })
		spread(places.Probabilities, parts, func(p *Mapped) []float32 { return p.Probabilities })
		columns = append(columns, predictions...)
	}
	if usable == total {
		return columns
	}
	valid := make([]byte, (total+7)/8)
	eachUsable(parts, func(_ *Mapped, _, row int) { valid[row/8] |= 1 << (row % 8) })
	for i, column := range columns {
		columns[i] = withNulls(column, valid, total-usable)
		column.Release()
	}
	return columns
}

// vectors is the type of a column of features.
func (m *Mapper) vectors() arrow.DataType {
	return arrow.FixedSizeListOfNonNullable(int32(m.pair.Features()), arrow.PrimitiveTypes.Float32)
}

// spread copies the values of usable rows to the places of all rows, if there are places.
func spread[T any](places []T, parts []*Mapped, of func(*Mapped) []T) {
	if len(places) == 0 {
		return
	}
	eachUsable(parts, func(part *Mapped, i, row int) {
		values := of(part)
		width := len(values) / len(part.Row)
		copy(places[row*width:], values[i*width:(i+1)*width])
	})
}

// eachUsable calls do with each usable row: its part, its index there, and its number among all
// rows.
func eachUsable(parts []*Mapped, do func(part *Mapped, i, row int)) {
	base := 0
	for _, part := range parts {
		for i, row := range part.Row {
			do(part, i, base+int(row))
		}
		base += part.Total
	}
}

// withNulls returns a column with a bitmap of its valid values.
func withNulls(column arrow.Array, valid []byte, nulls int) arrow.Array {
	of := column.Data().(*array.Data)
	buffers := slices.Clone(of.Buffers())
	buffers[0] = memory.NewBufferBytes(valid)
	var data *array.Data
	if dictionary, ok := of.Dictionary().(*array.Data); ok && dictionary != nil {
		data = array.NewDataWithDictionary(of.DataType(), of.Len(), buffers, nulls, 0, dictionary)
	} else {
		data = array.NewData(of.DataType(), of.Len(), buffers, of.Children(), nulls, 0)
	}
	defer data.Release()
	return array.MakeFromData(data)
}

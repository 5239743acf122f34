package featurize

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// ErrNoSpread reports a pair whose predictions are not the mean of several members', or are
// decisions without probabilities.
var ErrNoSpread = errors.New("no spread: the model is no mean of members of its feature set, or has no probabilities")

// SpreadWidth is the number of spreads of a row: one for each output of a regression, one for
// classes, 0 if the pair has none. A spread is the standard deviation of the predictions of the
// members of the set, for classes of the probability of the predicted class: about how much another
// exploration of the same rows would change the prediction. It is not the prediction's error.
func (p *Pair) SpreadWidth() int {
	switch {
	case p.Model == nil || p.Model.Model.MemberCount() < 2 || p.Model.Model.MemberCount() != p.Set.Set.MemberCount():
		return 0
	case p.Classes() == nil:
		return p.Outputs()
	case p.Probabilities():
		return 1
	}
	return 0
}

// spreads computes the spreads of rows. It belongs to one goroutine.
type spreads struct {
	label   *label
	model   *training.Model
	members []int32   // of each feature of the set
	width   int       // of a row
	outputs []float64 // reused: of the members for a row
	values  []float64 // reused: of the members for one spread
	scores  []float32 // reused: of one member, for classes
	chances []float32 // reused: probabilities
}

// AddSpread makes [Mapper.Map] fill the spread, or no longer. It is an error if the pair has none.
func (m *Mapper) AddSpread(wanted bool) error {
	width := m.pair.SpreadWidth()
	switch {
	case !wanted:
		m.spreads = nil
		return nil
	case width == 0:
		return fmt.Errorf("model %s: %w", m.pair.ModelID(), ErrNoSpread)
	}
	model, l := m.pair.Model.Model, m.predictor.label
	n := model.MemberCount()
	m.spreads = &spreads{
		label:   l,
		model:   model,
		members: m.pair.Set.Set.Members,
		width:   width,
		outputs: make([]float64, n*l.outputs),
		values:  make([]float64, n),
		scores:  make([]float32, l.outputs),
		chances: make([]float32, len(l.classes)),
	}
	return nil
}

// write computes the spreads of rows from their features and decided classes.
func (s *spreads) write(dst []float64, phi []float32, class []int32) {
	m := s.model.Features
	for i := range len(dst) / s.width {
		s.model.MemberOutputs(s.outputs, phi[i*m:(i+1)*m], s.members)
		if len(s.chances) > 0 {
			dst[i] = s.ofClass(int(class[i]))
			continue
		}
		s.label.invert.InvertAll(s.outputs)
		for k := range s.width {
			for j := range s.values {
				s.values[j] = s.outputs[j*s.width+k]
			}
			dst[i*s.width+k] = training.StandardDeviation(s.values)
		}
	}
}

// ofClass returns the spread of the probability of a class.
func (s *spreads) ofClass(class int) float64 {
	for j := range s.values {
		for k := range s.scores {
			s.scores[k] = float32(s.outputs[j*len(s.scores)+k])
		}
		training.Probabilities(s.chances, s.scores)
		s.values[j] = float64(s.chances[class])
	}
	return training.StandardDeviation(s.values)
}

// AddSpread adds the spread to the output as a column.
func (m *FileMapper) AddSpread() error {
	width := m.pair.SpreadWidth()
	if width == 0 {
		return fmt.Errorf("model %s: %w", m.pair.ModelID(), ErrNoSpread)
	}
	for _, name := range m.copied {
		if name == wire.ColumnSpread {
			return fmt.Errorf("column to copy: %w: %q", wire.ErrReservedColumn, name)
		}
	}
	field := arrow.Field{Name: wire.ColumnSpread, Type: arrow.PrimitiveTypes.Float64}
	if width > 1 {
		field.Type = arrow.FixedSizeListOfNonNullable(int32(width), arrow.PrimitiveTypes.Float64)
	}
	m.fields, m.spread = append(m.fields, field), true
	nameElements(m.fields[len(m.fields)-1:], m.pair.Set.Encoder.Label)
	return nil
}

// column returns the spreads of rows as a column.
func (s *spreads) column(values []float64) arrow.Array {
	builder := array.NewFloat64Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(values, nil)
	if s.width == 1 {
		return builder.NewArray()
	}
	elements := builder.NewArray()
	defer elements.Release()
	of := arrow.FixedSizeListOfNonNullable(int32(s.width), arrow.PrimitiveTypes.Float64)
	lists := array.NewData(of, len(values)/s.width, []*memory.Buffer{nil}, []arrow.ArrayData{elements.Data()}, 0, 0)
	defer lists.Release()
	return array.NewFixedSizeListData(lists)
}

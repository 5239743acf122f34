package wire

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Columns that predictions add to a features message. They are null in a message without a model;
// probabilities also if the model's loss has none.
const (
	ColumnPrediction    = "prediction"
	ColumnProbabilities = "probabilities" // of a classification, in the order of its classes
	ColumnSpread        = "spread"        // of the members of a set; in files and answers, on request
)

// HeaderModel is the header of the features topic that names the model of the predictions; empty =
// none. Every message of a featurizer that attaches predictions has it.
const HeaderModel = "eerf-model"

// ModelHeader returns the header that names a model; an empty ID means no model.
func ModelHeader(id string) Header { return textHeader(HeaderModel, id) }

// Predictions describes the prediction columns of a features message and the model that fills them.
type Predictions struct {
	Model         string // id; empty = none
	Missing       string // why there are no predictions, as one word
	Outputs       int    // K of a regression; 0 for classes
	Classes       *Classes
	Probabilities bool // whether the model gives them
}

// Classes are the class names as the values of a dictionary. They may be shared.
type Classes struct {
	names arrow.Array
	n     int
}

// NewClasses returns the names in the order of the classes' numbers.
func NewClasses(names []string) *Classes { return &Classes{textColumn("", names).arr, len(names)} }

// RowBytes is roughly the size of the columns per row.
func (p *Predictions) RowBytes() int64 {
	if p.Classes == nil {
		return 8 * int64(p.Outputs)
	}
	return 4 * int64(1+p.Classes.n)
}

// predictionGaps are the places of predictions in a message.
type predictionGaps struct{ prediction, probabilities []byte }

// carve cuts the gaps for this number of rows out of memory and returns the rest.
func (p *Predictions) carve(into []byte, rows int) (gaps predictionGaps, rest []byte) {
	if p == nil {
		return predictionGaps{}, into
	}
	take := func(size int) []byte {
		gap := into[:size:size]
		into = into[size:]
		return gap
	}
	if p.Classes == nil {
		gaps.prediction = take(8 * rows * p.Outputs)
		return gaps, into
	}
	gaps.prediction = take(4 * rows)
	gaps.probabilities = take(4 * rows * p.Classes.n)
	return gaps, into
}

// columns returns the columns for this number of rows, with their values in the gaps.
func (p *Predictions) columns(gaps predictionGaps, rows int) []column {
	switch {
	case p == nil:
		return nil
	case p.Classes == nil && p.Outputs == 1:
		return []column{
			{ColumnPrediction, nullable(arrow.PrimitiveTypes.Float64, gaps.prediction, rows, p.Model != ""), true},
		}
	case p.Classes == nil:
		lists := nullableLists(arrow.PrimitiveTypes.Float64, gaps.prediction, rows, p.Outputs, p.Model != "")
		return []column{{ColumnPrediction, lists, true}}
	}
	there := p.Model != "" && p.Probabilities
	lists := nullableLists(arrow.PrimitiveTypes.Float32, gaps.probabilities, rows, p.Classes.n, there)
	return []column{
		{ColumnPrediction, p.Classes.numbered(gaps.prediction, rows, p.Model != ""), true},
		{ColumnProbabilities, lists, true},
	}
}

// validity is the bitmap of rows that are all valid, which needs none, or all null.
func validity(rows int, there bool) (bitmap *memory.Buffer, nulls int) {
	if there || rows == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(make([]byte, (rows+7)/8)), rows
}

// nullable wraps the bytes of n values that are all valid or all null.
func nullable(t arrow.DataType, raw []byte, n int, there bool) arrow.Array {
	bitmap, nulls := validity(n, there)
	data := array.NewData(t, n, []*memory.Buffer{bitmap, memory.NewBufferBytes(raw)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// nullableLists wraps the bytes of rows lists of n values.
func nullableLists(of arrow.DataType, raw []byte, rows, n int, there bool) arrow.Array {
	values := fixedWidth(of, raw, rows*n)
	defer values.Release()
	bitmap, nulls := validity(rows, there)
	t := arrow.FixedSizeListOfNonNullable(int32(n), of)
	data := array.NewData(t, rows, []*memory.Buffer{bitmap}, []arrow.ArrayData{values.Data()}, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// numbered wraps the bytes of n class numbers as a dictionary column.
func (c *Classes) numbered(raw []byte, n int, there bool) arrow.Array {
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	numbers := nullable(t.IndexType, raw, n, there)
	defer numbers.Release()
	return array.NewDictionaryArray(t, numbers, c.names)
}

// Fields are the prediction columns if every row has a prediction, as in a file.
func (p *Predictions) Fields() []arrow.Field {
	_, arrays := p.Reserve(0)
	names := []string{ColumnPrediction, ColumnProbabilities}
	fields := make([]arrow.Field, len(arrays))
	for i, a := range arrays {
		fields[i] = arrow.Field{Name: names[i], Type: a.DataType()}
		a.Release()
	}
	return fields
}

// Reserve returns the columns for this number of rows, in the order of [Predictions.Fields], and
// the places to be filled before the columns are read. The caller releases the columns.
func (p *Predictions) Reserve(rows int) (places FeaturesBody, arrays []arrow.Array) {
	p.check()
	gaps, _ := p.carve(make([]byte, rows*int(p.RowBytes())), rows)
	places.place(p, gaps.prediction, gaps.probabilities)
	for _, c := range p.columns(gaps, rows) {
		if c.name == ColumnProbabilities && !p.Probabilities {
			c.arr.Release()
			continue
		}
		arrays = append(arrays, c.arr)
	}
	return places, arrays
}

// check panics on predictions that no message can represent.
func (p *Predictions) check() {
	if p != nil && (p.Classes == nil) == (p.Outputs < 1) {
		panic(fmt.Sprintf("wire: predictions of %d outputs and classes %v: want one of the two", p.Outputs, p.Classes))
	}
}

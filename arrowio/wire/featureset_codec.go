package wire

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/go-json-experiment/json"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// featureSetFields is the metadata of a feature set. Values of each feature are columns. The
// encoder's JSON, over which the ID is computed, is a metadata entry of its own.
type featureSetFields struct {
	ID       string      `json:"id"`
	Map      scoring.Map `json:"map"`
	Dim      int         `json:"dim"`
	Width    int         `json:"width"`
	Features int         `json:"features"`
	// Kinds counts the features by kind in a set of mixed kinds; nil = all of one kind.
	Kinds      *scoring.KindCounts `json:"kinds,omitempty"`
	Outputs    int                 `json:"outputs"`
	Scale      float64             `json:"scale"` // the float32 scale, widened to keep every digit
	Task       scoring.Task        `json:"task"`
	Coding     scoring.Coding      `json:"coding"`
	Candidates scoring.Candidates  `json:"candidates"`
	Lineage    Lineage             `json:"lineage"`
}

// EncodeFeatureSet returns the message for f, with one row per feature, in order of selection.
func EncodeFeatureSet(f *FeatureSet) ([]byte, error) {
	if f == nil {
		return nil, fmt.Errorf("encode feature set: %w", errMissing)
	}
	id, err := f.id()
	if err != nil {
		return nil, fmt.Errorf("encode feature set of exploration %q: %w", f.Lineage.Exploration, err)
	}
	value, err := f.encode(id)
	if err != nil {
		return nil, fmt.Errorf("encode feature set %s: %w", id, err)
	}
	return value, nil
}

// encode writes a set that is known to be valid and to have this ID.
func (f *FeatureSet) encode(id string) ([]byte, error) {
	enc, err := f.Encoder.CanonicalJSON()
	if err != nil {
		return nil, err
	}
	if err := encoderMetadata.check(enc); err != nil {
		return nil, err
	}
	set := f.Set.Features
	m, k, width := set.Len(), f.outputs(), set.Width()
	lineage := f.Lineage
	lineage.SelectedAt = canonicalTime(lineage.SelectedAt)
	lineage.Columns = boundedColumns(lineage.Columns)
	doc := featureSetFields{
		ID: id, Map: set.Map, Dim: set.Dim, Width: width, Features: m, Outputs: k,
		Scale: float64(f.Set.Scale), Task: f.Task, Coding: f.Coding,
		Candidates: f.Candidates, Lineage: lineage,
	}
	if set.Mixed() {
		kinds := set.Kinds()
		doc.Kinds = &kinds
	}
	columns := []column{}
	for _, c := range doc.columns() {
		columns = append(columns, c.write(f, &doc))
	}
	return featureSetMetadata.encodeMessage(&doc, []entry{{KeyEncoder, string(enc)}}, columns...)
}

// DecodeFeatureSet reads a message that [EncodeFeatureSet] wrote. The result is valid
// ([FeatureSet.Validate]) and hashes to the ID in the message; otherwise the error wraps
// [ErrHashMismatch]. Weights that are all one are returned as nil.
func DecodeFeatureSet(dec *arrowio.Decoder, value []byte) (*FeatureSet, error) {
	var doc featureSetFields
	rec, err := featureSetMetadata.decodeMessage(dec, value, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode feature set: %w", err)
	}
	defer rec.Release()
	f, err := readFeatureSet(rec, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode feature set %q: %w", cutText(doc.ID, maxNameBytes), err)
	}
	return f, nil
}

// readFeatureSet builds the set and checks it against its ID.
func readFeatureSet(rec arrow.Record, doc *featureSetFields) (*FeatureSet, error) {
	doc.Lineage.SelectedAt = canonicalTime(doc.Lineage.SelectedAt)
	enc, text, err := readEncoder(rec.Schema())
	if err != nil {
		return nil, err
	}
	f := &FeatureSet{
		Encoder: enc, Task: doc.Task, Coding: doc.Coding,
		Candidates: doc.Candidates, Lineage: doc.Lineage,
	}
	if err := f.Lineage.validateLearning(doc.Dim); err != nil {
		return nil, fmt.Errorf("%w: learning: %w", ErrMalformed, err)
	}
	if err := checkFeatureSetShape(rec, doc); err != nil {
		return nil, err
	}
	if err := readFeatureColumns(rec, doc, f); err != nil {
		return nil, err
	}
	id, err := f.id()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	// Readers in other languages hash the bytes as they are, so the bytes must be canonical.
	if canonical, err := enc.CanonicalJSON(); err != nil || !bytes.Equal(canonical, text) {
		return nil, fmt.Errorf("%w: the encoder is not in its canonical form", ErrHashMismatch)
	}
	if id != doc.ID {
		return nil, fmt.Errorf("%w: the content is that of %s", ErrHashMismatch, id)
	}
	return f, nil
}

// readEncoder parses the encoder in the schema metadata and returns it with its bytes.
func readEncoder(schema *arrow.Schema) (*encoder.Encoder, []byte, error) {
	text, err := metadataValue(schema, KeyEncoder)
	if err != nil {
		return nil, nil, err
	}
	raw := []byte(text)
	if err := encoderMetadata.check(raw); err != nil {
		return nil, nil, err
	}
	var enc encoder.Encoder
	if err := json.Unmarshal(raw, &enc); err != nil {
		return nil, nil, fmt.Errorf("%w: encoder: %w", ErrMalformed, err)
	}
	return &enc, raw, nil
}

// checkFeatureSetShape checks the shapes in the metadata against the record and each other.
func checkFeatureSetShape(rec arrow.Record, doc *featureSetFields) error {
	width := doc.Map.Width(doc.Dim)
	if rec.NumRows() != int64(doc.Features) || doc.Features < 1 {
		return fmt.Errorf("%w: %d rows, but metadata declares %d features", ErrMalformed, rec.NumRows(), doc.Features)
	}
	if doc.Dim < 1 || doc.Width != width {
		return fmt.Errorf("%w: width %d does not fit map %v in %d dimensions", ErrMalformed, doc.Width, doc.Map, doc.Dim)
	}
	if doc.Kinds != nil && doc.Map != scoring.MapCosine {
		return fmt.Errorf("%w: features of map %v are of one kind", ErrMalformed, doc.Map)
	}
	if k := doc.Outputs; k < 1 || len(doc.Coding.Gain) != k || len(doc.Coding.Offset) != k {
		return fmt.Errorf("%w: %d outputs, but a coding of %d gains and %d offsets",
			ErrMalformed, k, len(doc.Coding.Gain), len(doc.Coding.Offset))
	}
	return nil
}

// featureColumn is a column of a feature set, with a number or a list of numbers for each feature.
type featureColumn struct {
	write func(*FeatureSet, *featureSetFields) column
	read  func(*reader, *FeatureSet, *featureSetFields)
}

// The first columns of every feature set, the columns of ω in a set of one kind, and the last
// columns of every set.
var (
	drawColumns = []featureColumn{
		eachFeature("index", 0, func(f *FeatureSet) *[]int32 { return &f.Set.Index }),
		eachFeature("round", 0, func(f *FeatureSet) *[]int32 { return &f.Set.Round }),
		eachFeature("members", 1, func(f *FeatureSet) *[]int32 { return &f.Set.Members }),
	}
	omegaColumns = []featureColumn{
		eachFeatures(
			"omega",
			func(d *featureSetFields) int { return d.Width },
			func(f *FeatureSet) *[]float32 { return &f.Set.Features.Omega },
		),
		eachFeature("phase", 0, func(f *FeatureSet) *[]float32 { return &f.Set.Features.Phase }),
	}
	scoreColumns = []featureColumn{
		eachFeature("weight", 1, func(f *FeatureSet) *[]float32 { return &f.Set.Weight }),
		eachFeature("score", 0, func(f *FeatureSet) *[]float64 { return &f.Set.Score }),
		eachFeatures(
			"s",
			func(d *featureSetFields) int { return d.Outputs },
			func(f *FeatureSet) *[]float64 { return &f.Set.S },
		),
	}
)

// columns are the columns of a set with this metadata.
func (d *featureSetFields) columns() []featureColumn {
	if d.Kinds != nil {
		return slices.Concat(drawColumns, kindColumns, scoreColumns)
	}
	return slices.Concat(drawColumns, omegaColumns, scoreColumns)
}

// eachFeature is a column of one number for each feature. A set without them is written with a
// constant.
func eachFeature[T numeric](name string, absent T, of func(*FeatureSet) *[]T) featureColumn {
	return featureColumn{
		write: func(f *FeatureSet, doc *featureSetFields) column {
			v := *of(f)
			if v == nil {
				v = slices.Repeat([]T{absent}, doc.Features)
			}
			return numbers(name, v)
		},
		read: func(r *reader, f *FeatureSet, _ *featureSetFields) { *of(f) = slices.Clone(values[T](r, name)) },
	}
}

// eachFeatures is a column of lists of n numbers for each feature.
func eachFeatures[T numeric](name string, n func(*featureSetFields) int, of func(*FeatureSet) *[]T) featureColumn {
	return featureColumn{
		write: func(f *FeatureSet, doc *featureSetFields) column {
			return listColumn(numbers(name, *of(f)), doc.Features, n(doc))
		},
		read: func(r *reader, f *FeatureSet, doc *featureSetFields) {
			*of(f) = slices.Clone(lists[T](r, name, n(doc)))
		},
	}
}

// readFeatureColumns copies the columns into f.
func readFeatureColumns(rec arrow.Record, doc *featureSetFields, f *FeatureSet) error {
	f.Set.Features, f.Set.Scale = &scoring.Features{Map: doc.Map, Dim: doc.Dim}, float32(doc.Scale)
	r := &reader{rec: rec}
	for _, c := range doc.columns() {
		if c.read(r, f, doc); r.err != nil {
			return r.err
		}
	}
	f.Set.Round, f.Set.Weight = unlessAll(f.Set.Round, 0), unlessAll(f.Set.Weight, 1)
	f.Set.Members = unlessAll(f.Set.Members, 1)
	if doc.Map != scoring.MapCosine {
		f.Set.Features.Phase = nil
	}
	return r.err
}

// unlessAll returns v, or nil if all of it has the value that stands for nothing.
func unlessAll[T comparable](v []T, absent T) []T {
	if slices.ContainsFunc(v, func(x T) bool { return x != absent }) {
		return v
	}
	return nil
}

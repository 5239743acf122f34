package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
)

// Columns that a features message adds to the passthrough and label columns.
const (
	ColumnRow      = "row"
	ColumnFeatures = "features"
	// ColumnIdentity has the identities of rows, see package rowid. It is absent if rows are
	// identified by their place.
	ColumnIdentity = "eerf_identity"
)

// Columns that a message of rejected rows adds to the columns of the event.
const (
	ColumnRejectedRow    = "eerf_row"
	ColumnRejectedReason = "eerf_reason"
)

// FeaturesInfo is the metadata of a features message.
type FeaturesInfo struct {
	FormatVersion int      `json:"format_version"`
	FeatureSet    string   `json:"feature_set"`                     // id
	Features      int      `json:"features"`                        // M
	LabelColumns  []string `json:"label_columns" bound:"list 4096"` // which of the columns are the label
	// With predictions: the ID of the model that made them, or why there are no predictions.
	Model        string `json:"model,omitempty"`
	NoPrediction string `json:"no_prediction,omitempty"`
}

// CheckFeatureColumns reports passthrough or label columns whose names a features message needs
// itself. The error wraps [ErrReservedColumn].
func CheckFeatureColumns(names []string) error {
	return checkReserved(names, ColumnRow, ColumnFeatures, ColumnIdentity)
}

// CheckPredictionColumns reports columns whose names are needed for predictions.
func CheckPredictionColumns(names []string) error {
	return checkReserved(names, ColumnPrediction, ColumnProbabilities)
}

// checkReserved reports the first name that is reserved.
func checkReserved(names []string, reserved ...string) error {
	for _, n := range names {
		if slices.Contains(reserved, n) {
			return fmt.Errorf("%w: %q", ErrReservedColumn, n)
		}
	}
	return nil
}

// FeaturesLayout describes the parts of a features message that do not come from the event.
type FeaturesLayout struct {
	FeatureSet   string // id
	Features     int    // M
	LabelColumns []string
	Identities   []uint64     // [rows]; nil = no column for them
	Predictions  *Predictions // nil = no columns for them
}

// FeaturesBody is the body of a features message with the places to be filled, so that values are
// computed directly into it. Places are nil, and their bytes zeros, for predictions without a model
// and for probabilities that the model does not have.
type FeaturesBody struct {
	Value         []byte
	Features      []float32 // [rows·M] row-major
	Prediction    []float64 // [rows·K] of a regression
	Class         []int32   // [rows] number of the class
	Probabilities []float32 // [rows·C]
}

// ReserveFeatures lays out the body of a features message. rec holds the kept rows of the source
// message, restricted to passthrough and label columns (it may have no columns, but must have the
// number of rows). rowNumbers are the rows' numbers in the source message, strictly ascending. rec
// is neither kept nor released. A message without rows still marks its part of the source as done.
//
// The message uses the memory of into, or new memory if that is too small, and belongs to the
// caller.
func ReserveFeatures(into []byte, rec arrow.Record, rowNumbers []int32, l FeaturesLayout) (FeaturesBody, error) {
	rows, m := len(rowNumbers), l.Features
	if rec.NumRows() != int64(rows) || m < 1 {
		panic(fmt.Sprintf("wire: %d features for %d row numbers and a record of %d rows", m, rows, rec.NumRows()))
	}
	l.Predictions.check()
	if err := checkAscending(rowNumbers); err != nil {
		return FeaturesBody{}, fmt.Errorf("encode features: %w", err)
	}
	meta, err := metadataOf(KeyFeatures, l.info())
	if err != nil {
		return FeaturesBody{}, fmt.Errorf("encode features: %w", err)
	}
	size := 4 * m * rows
	if l.Predictions != nil {
		size += rows * int(l.Predictions.RowBytes())
	}
	into = slices.Grow(into[:0], size+LayoutMargin)
	gap := into[: 4*m*rows : 4*m*rows]
	gaps, _ := l.Predictions.carve(into[4*m*rows:size], rows)
	columns := []column{numbers(ColumnRow, rowNumbers)}
	if l.Identities != nil {
		columns = append(columns, numbers(ColumnIdentity, l.Identities))
	}
	columns = append(columns,
		listColumn(column{name: ColumnFeatures, arr: fixedWidth(arrow.PrimitiveTypes.Float32, gap, m*rows)}, rows, m))
	out, err := appendColumns(rec, meta, append(columns, l.Predictions.columns(gaps, rows)...)...)
	if err != nil {
		return FeaturesBody{}, fmt.Errorf("encode features: %w", err)
	}
	defer out.Release()
	value, at, err := arrowio.ReserveStream(into, out, gap, gaps.prediction, gaps.probabilities)
	if err != nil {
		return FeaturesBody{}, fmt.Errorf("encode features: %w", err)
	}
	body := FeaturesBody{Value: value, Features: arrow.Float32Traits.CastFromBytes(value[at[0] : at[0]+len(gap)])}
	body.place(l.Predictions, value[at[1]:at[1]+len(gaps.prediction)], value[at[2]:at[2]+len(gaps.probabilities)])
	return body, nil
}

// info is the metadata of the message.
func (l *FeaturesLayout) info() FeaturesInfo {
	info := FeaturesInfo{
		FormatVersion: featuresMetadata.version,
		FeatureSet:    l.FeatureSet,
		Features:      l.Features,
		LabelColumns:  l.LabelColumns,
	}
	if info.LabelColumns == nil {
		info.LabelColumns = []string{}
	}
	if l.Predictions != nil {
		info.Model, info.NoPrediction = l.Predictions.Model, l.Predictions.Missing
	}
	return info
}

// place sets the places of predictions, and clears places that stay unfilled.
func (b *FeaturesBody) place(p *Predictions, prediction, probabilities []byte) {
	switch {
	case p == nil:
	case p.Model == "":
		clear(prediction)
		clear(probabilities)
	case p.Classes == nil:
		b.Prediction = arrow.Float64Traits.CastFromBytes(prediction)
	default:
		b.Class = arrow.Int32Traits.CastFromBytes(prediction)
		if p.Probabilities {
			b.Probabilities = arrow.Float32Traits.CastFromBytes(probabilities)
		} else {
			clear(probabilities)
		}
	}
}

// LayoutMargin is room for the usual other parts of a features message: framing,
// schema, row numbers, a label. If that is not enough, the memory grows by copying.
const LayoutMargin = 16 << 10

// DecodeFeatures returns the row numbers and features of a decoded features message of m features.
// Row numbers are strictly ascending and every feature is finite. Both slices alias rec.
func DecodeFeatures(rec arrow.Record, m int) (row []int32, z []float32, err error) {
	r := &reader{rec: rec}
	row, z = values[int32](r, ColumnRow), lists[float32](r, ColumnFeatures, m)
	if err := cmp.Or(r.err, checkAscending(row)); err != nil {
		return nil, nil, fmt.Errorf("decode features: %w", err)
	}
	if !finite(z) {
		return nil, nil, fmt.Errorf("decode features: %w: a feature is not finite", ErrMalformed)
	}
	return row, z, nil
}

// DecodeIdentities returns the identities of the rows of a decoded features message, nil if it has
// none. They alias rec.
func DecodeIdentities(rec arrow.Record) ([]uint64, error) {
	r := &reader{rec: rec}
	if !r.has(ColumnIdentity) {
		return nil, nil
	}
	ids := values[uint64](r, ColumnIdentity)
	if r.err != nil {
		return nil, fmt.Errorf("decode features: %w", r.err)
	}
	return ids, nil
}

// ParseFeaturesInfo reads the metadata of a features message.
func ParseFeaturesInfo(schema *arrow.Schema) (FeaturesInfo, error) {
	var info FeaturesInfo
	text, err := metadataValue(schema, KeyFeatures)
	if err == nil {
		err = featuresMetadata.unmarshal([]byte(text), &info)
	}
	if err != nil {
		return FeaturesInfo{}, fmt.Errorf("decode features: %w", err)
	}
	return info, nil
}

// checkAscending reports row numbers that are negative or not strictly ascending.
func checkAscending(rows []int32) error {
	last := int32(-1)
	for _, r := range rows {
		if r <= last {
			return fmt.Errorf("%w: row %d after row %d", ErrMalformed, r, last)
		}
		last = r
	}
	return nil
}

// EncodeRejectedRows returns the body of a dead letter for single rows. rec holds the rejected rows
// with all columns, rows their numbers in the source message, reasons the reason of each as one
// word. rec is neither kept nor released.
func EncodeRejectedRows(rec arrow.Record, rows []int32, reasons []string) ([]byte, error) {
	if len(rows) != len(reasons) || rec.NumRows() != int64(len(rows)) {
		panic(
			fmt.Sprintf("wire: %d reasons for %d row numbers and a record of %d rows", len(reasons), len(rows), rec.NumRows()),
		)
	}
	meta, err := metadataOf(KeyRejectedRows, struct {
		FormatVersion int `json:"format_version"`
	}{rejectedRowsMetadata.version})
	if err != nil {
		return nil, fmt.Errorf("encode rejected rows: %w", err)
	}
	out, err := appendColumns(rec, meta,
		numbers(ColumnRejectedRow, rows), textColumn(ColumnRejectedReason, reasons))
	if err != nil {
		return nil, fmt.Errorf("encode rejected rows: %w", err)
	}
	defer out.Release()
	return arrowio.EncodeStream(out.Schema(), out)
}

// metadataOf returns schema metadata with one document.
func metadataOf(key string, doc any) (*arrow.Metadata, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	meta := arrow.NewMetadata([]string{key}, []string{string(text)})
	return &meta, nil
}

// appendColumns returns a record of rec's columns followed by more, which it takes ownership of,
// with other metadata. A name in more must not be a column of rec.
func appendColumns(rec arrow.Record, meta *arrow.Metadata, more ...column) (arrow.Record, error) {
	fields := slices.Clone(rec.Schema().Fields())
	arrays := slices.Clone(rec.Columns())
	defer func() {
		for _, c := range more {
			c.arr.Release()
		}
	}()
	for _, c := range more {
		if rec.Schema().HasField(c.name) {
			return nil, fmt.Errorf("%w: %q", ErrReservedColumn, c.name)
		}
		fields = append(fields, arrow.Field{Name: c.name, Type: c.arr.DataType(), Nullable: c.nullable})
		arrays = append(arrays, c.arr)
	}
	return array.NewRecord(arrow.NewSchema(fields, meta), arrays, rec.NumRows()), nil
}

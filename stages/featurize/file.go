package featurize

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// FileMapper maps the rows of files as the stage maps events: to features, or to predictions where
// it has a model.
type FileMapper struct {
	pair   *Pair
	copied []string      // columns
	fields []arrow.Field // of the features or the predictions
	spread bool          // whether they include it
	// Warnings and Notes are remarks for people on the file that Map has read: unusable values,
	// categories without a dimension in the set, and more missing values than in calibration.
	// Warnings concern more than a tenth of the rows.
	Warnings, Notes []string
}

// NewFileTransformer returns a mapper from rows to features, with the passthrough and label columns
// of the rows.
func NewFileTransformer(set *wire.FeatureSet) (*FileMapper, error) {
	pair, err := newPair(set, set, nil)
	if err != nil {
		return nil, err
	}
	vectors := arrow.FixedSizeListOfNonNullable(int32(pair.Features()), arrow.PrimitiveTypes.Float32)
	return &FileMapper{
		pair:   pair,
		copied: events.OutputColumns(set.Encoder),
		fields: []arrow.Field{{Name: wire.ColumnFeatures, Type: vectors}},
	}, nil
}

// Encoder is the encoder of the set, with its label if it has one.
func (m *FileMapper) Encoder() *encoder.Encoder { return m.pair.Set.Encoder }

// Check returns an error for missing feature columns, and for feature columns of another kind.
func (m *FileMapper) Check(rows *arrow.Schema) error { return m.pair.Encoder().Check(rows) }

// Schema is the schema of the output of [FileMapper.Map] for rows of a schema: the copied columns,
// the row's number in the file, and its features or predictions.
func (m *FileMapper) Schema(rows *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, name := range m.copied {
		if at := rows.FieldIndices(name); len(at) > 0 {
			field := rows.Field(at[0])
			fields = append(fields, arrow.Field{Name: field.Name, Type: field.Type, Nullable: field.Nullable})
		}
	}
	fields = append(fields, arrow.Field{Name: wire.ColumnRow, Type: arrow.PrimitiveTypes.Int64})
	return arrow.NewSchema(append(fields, m.fields...), nil)
}

// Map writes the rows of a file in batches of the schema. Unusable rows are skipped and counted.
func (m *FileMapper) Map(
	ctx context.Context,
	open func() (events.RowReader, error),
	schema *arrow.Schema,
	w events.RowWriter,
) (meter.FeaturizeCounts, error) {
	f := fileMapping{of: m, mapper: m.pair.NewMapper(), schema: schema, out: w}
	if err := f.mapper.AddSpread(m.spread); err != nil {
		return f.counts, err
	}
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		if err := m.Check(batch.Schema()); err != nil {
			return err
		}
		return events.EachChunk(batch, m.pair.Encoder().Dim, func(_ int64, chunk arrow.Record) error {
			return f.write(ctx, chunk)
		})
	})
	m.Warnings, m.Notes = f.remarks()
	return f.counts, err
}

// remarks describes differences between the rows and the calibration of the set.
func (f *fileMapping) remarks() (warnings, notes []string) {
	expected, _ := columnsOf(f.of.pair.Set)
	_, tallies := f.mapper.rows.Tallies()
	warnings, notes = encoder.Notes(tallies)
	for i := range min(len(expected), len(tallies)) {
		t := &tallies[i]
		c := meter.Imputed{Column: t.Column, Values: t.Values, Imputed: t.Imputed, Expected: expected[i]}
		switch {
		case c.Lacks():
			const note = "%s: missing and imputed in %.0f %% of the rows, missing in %.0f %% in calibration"
			warnings = append(warnings, fmt.Sprintf(note, c.Column, 100*c.Share(), 100*c.Expected))
		case c.Imputed > 0 && c.Expected == 0:
			notes = append(notes, fmt.Sprintf("%s: missing and imputed in %d of %d rows, never missing in calibration",
				c.Column, c.Imputed, c.Values))
		}
	}
	return warnings, notes
}

// fileMapping is one call of [FileMapper.Map].
type fileMapping struct {
	of     *FileMapper
	mapper *Mapper
	schema *arrow.Schema
	out    events.RowWriter
	counts meter.FeaturizeCounts
}

func (f *fileMapping) write(ctx context.Context, batch arrow.Record) error {
	made, err := f.mapper.Map([]arrow.Record{batch}, f.mapper.predictor == nil, ctx.Err)
	if err != nil {
		return err
	}
	kept, err := events.TakeRows(batch, made.Row, f.of.copied)
	if err != nil {
		return err
	}
	defer kept.Release()
	columns := f.columns(made)
	defer releaseAll(columns)
	out := array.NewRecord(f.schema, slices.Concat(kept.Columns(), columns), int64(len(made.Row)))
	defer out.Release()
	addEncoded(&f.counts, made.Counts, len(made.Row), made.Total)
	return f.out.Write(out)
}

// columns returns the row numbers in the file, and the features or the predictions.
func (f *fileMapping) columns(made *Mapped) []arrow.Array {
	rows := array.NewInt64Builder(memory.DefaultAllocator)
	defer rows.Release()
	for _, row := range made.Row {
		rows.Append(f.counts.Rows + int64(row))
	}
	columns := []arrow.Array{rows.NewArray()}
	if p := f.mapper.predictor; p != nil {
		p.count(&f.counts, int64(len(made.Row)))
		columns = append(columns, f.mapper.predictions()...)
		if s := f.mapper.spreads; s != nil {
			columns = append(columns, s.column(made.Spread))
		}
		return columns
	}
	values := slices.Clone(made.Features) // the writer may keep them
	return append(columns, vectorsOf(f.of.fields[0].Type, values, len(made.Row)))
}

// vectorsOf returns a column of lists of the values.
func vectorsOf(of arrow.DataType, values []float32, rows int) arrow.Array {
	elements := array.NewData(arrow.PrimitiveTypes.Float32, len(values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(values))}, nil, 0, 0)
	defer elements.Release()
	lists := array.NewData(of, rows, []*memory.Buffer{nil}, []arrow.ArrayData{elements}, 0, 0)
	defer lists.Release()
	return array.NewFixedSizeListData(lists)
}

func releaseAll(columns []arrow.Array) {
	for _, c := range columns {
		c.Release()
	}
}

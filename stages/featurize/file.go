package featurize

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// OutputSchema is the schema of what [TransformRows] writes for rows of the given schema.
func OutputSchema(set *wire.FeatureSet, rows *arrow.Schema) *arrow.Schema {
	m := int32(set.Set.Features.Len())
	return fileSchema(rows, events.OutputColumns(set.Encoder),
		arrow.Field{Name: wire.ColumnFeatures, Type: arrow.FixedSizeListOfNonNullable(m, arrow.PrimitiveTypes.Float32)})
}

// fileSchema has the copied columns, the row's number in the file, and more.
func fileSchema(rows *arrow.Schema, copied []string, more ...arrow.Field) *arrow.Schema {
	var fields []arrow.Field
	for _, name := range copied {
		if at := rows.FieldIndices(name); len(at) > 0 {
			field := rows.Field(at[0])
			fields = append(fields, arrow.Field{Name: field.Name, Type: field.Type, Nullable: field.Nullable})
		}
	}
	fields = append(fields, arrow.Field{Name: wire.ColumnRow, Type: arrow.PrimitiveTypes.Int64})
	return arrow.NewSchema(append(fields, more...), nil)
}

// TransformRows maps the rows of a file to features, in batches of the [OutputSchema]: passthrough and label columns,
// the row's number in the file, the feature vector. Rows that cannot be used are left out and counted.
func TransformRows(
	ctx context.Context, set *wire.FeatureSet, open func() (events.RowReader, error), schema *arrow.Schema, w events.RowWriter,
) (meter.FeaturizeCounts, error) {
	pair, err := newPair(set, set, nil)
	if err != nil {
		return meter.FeaturizeCounts{}, err
	}
	f := fileMapper{mapper: pair.NewMapper(), copied: events.OutputColumns(set.Encoder), schema: schema, out: w}
	return f.run(ctx, open)
}

// fileMapper maps the rows of a file to batches of a schema: features without a model, else predictions.
type fileMapper struct {
	mapper *Mapper
	copied []string // columns
	schema *arrow.Schema
	out    events.RowWriter
	counts meter.FeaturizeCounts
}

func (f *fileMapper) run(ctx context.Context, open func() (events.RowReader, error)) (meter.FeaturizeCounts, error) {
	enc := f.mapper.pair.Encoder()
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		if err := enc.Check(batch.Schema()); err != nil {
			return err
		}
		return events.EachChunk(batch, enc.Dim, func(_ int64, chunk arrow.Record) error { return f.write(ctx, chunk) })
	})
	return f.counts, err
}

func (f *fileMapper) write(ctx context.Context, batch arrow.Record) error {
	made, err := f.mapper.Map([]arrow.Record{batch}, f.mapper.predictor == nil, ctx.Err)
	if err != nil {
		return err
	}
	kept, err := events.TakeRows(batch, made.Row, f.copied)
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
func (f *fileMapper) columns(made *Mapped) []arrow.Array {
	rows := array.NewInt64Builder(memory.DefaultAllocator)
	defer rows.Release()
	for _, row := range made.Row {
		rows.Append(f.counts.Rows + int64(row))
	}
	columns := []arrow.Array{rows.NewArray()}
	if p := f.mapper.predictor; p != nil {
		p.count(&f.counts, int64(len(made.Row)))
		return append(columns, f.mapper.predictions()...)
	}
	vectors := f.schema.Field(f.schema.FieldIndices(wire.ColumnFeatures)[0]).Type
	return append(columns, vectorsOf(vectors, slices.Clone(made.Features), len(made.Row))) // the writer may keep them
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

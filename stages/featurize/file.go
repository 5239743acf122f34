package featurize

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
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
	return newFileTransformer(set, events.OutputColumns(set.Encoder), schema, w).run(ctx, open)
}

// fileTransformer maps the rows of a file to batches of a schema.
type fileTransformer struct {
	set       *wire.FeatureSet
	transform *scoring.Transformer
	encoder   events.RowEncoder
	copied    []string // columns
	schema    *arrow.Schema
	out       events.RowWriter
	predictor *predictor   // nil = writes features instead of predictions
	rows      encoder.Rows // reused
	features  []float32
	counts    meter.FeaturizeCounts
}

func newFileTransformer(set *wire.FeatureSet, copied []string, schema *arrow.Schema, w events.RowWriter) *fileTransformer {
	f := &fileTransformer{set: set, copied: copied, schema: schema, out: w}
	f.transform, f.encoder = events.NewTransformer(set)
	return f
}

func (f *fileTransformer) run(ctx context.Context, open func() (events.RowReader, error)) (meter.FeaturizeCounts, error) {
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		return events.EachChunk(batch, f.set.Encoder.Dim, func(_ int64, chunk arrow.Record) error { return f.write(chunk) })
	})
	return f.counts, err
}

func (f *fileTransformer) write(batch arrow.Record) error {
	if err := f.set.Encoder.Check(batch.Schema()); err != nil {
		return err
	}
	if err := f.encoder.Encode(&f.rows, batch, nil); err != nil {
		return err
	}
	f.features = make([]float32, f.rows.N*f.transform.Len()) // the writer may keep it
	f.transform.Transform(f.features, f.rows.X[:f.rows.N*f.rows.Dim], f.rows.N)
	kept, err := events.TakeRows(batch, f.rows.Row[:f.rows.N], f.copied)
	if err != nil {
		return err
	}
	defer kept.Release()
	columns := f.columns()
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	out := array.NewRecord(f.schema, append(append([]arrow.Array(nil), kept.Columns()...), columns...), int64(f.rows.N))
	defer out.Release()
	addEncoded(&f.counts, f.rows.Counts, f.rows.N, int(batch.NumRows()))
	return f.out.Write(out)
}

// columns returns the row numbers in the file, and the features or the predictions of the encoded rows.
func (f *fileTransformer) columns() []arrow.Array {
	rows := array.NewInt64Builder(memory.DefaultAllocator)
	defer rows.Release()
	for _, row := range f.rows.Row[:f.rows.N] {
		rows.Append(f.counts.Rows + int64(row))
	}
	columns := []arrow.Array{rows.NewArray()}
	if f.predictor != nil {
		return append(columns, f.predictions()...)
	}
	return append(columns, f.vectors())
}

// vectors returns the features.
func (f *fileTransformer) vectors() arrow.Array {
	values := array.NewData(arrow.PrimitiveTypes.Float32, len(f.features),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(f.features))}, nil, 0, 0)
	defer values.Release()
	lists := array.NewData(f.schema.Field(f.schema.FieldIndices(wire.ColumnFeatures)[0]).Type, f.rows.N,
		[]*memory.Buffer{nil}, []arrow.ArrayData{values}, 0, 0)
	defer lists.Release()
	return array.NewFixedSizeListData(lists)
}

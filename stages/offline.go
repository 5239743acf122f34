package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// RowReader gives the rows of a file, batch by batch, and io.EOF at the end. The caller releases the batches.
type RowReader interface {
	Next() (arrow.Record, error)
}

// Explored is what a pass over a file found.
type Explored struct {
	Set     *wire.FeatureSet
	Report  encoder.Report
	Warning string
	// Values are the criterion's values of all candidates, by index: the score spectrum.
	Values  []float64
	Seconds map[string]float64 // by stage
}

// ExploreFile runs one exploration over the rows of a file, as if they were the rows of partition 0 of events from its
// first offset on: the feature set has the id that the stream would give. open is called once for calibration and once
// for each pass; name stands for the events topic in the lineage.
func ExploreFile(ctx context.Context, s Settings, name string, open func() (RowReader, error)) (*Explored, error) {
	began := time.Now()
	found, rows, err := calibrateOnRows(ctx, s, open)
	if err != nil {
		return nil, err
	}
	s.Topics.Events = name
	partitions := []wire.Partition{{Partition: 0, EndOffset: -1, Quota: s.Exploration.SampleRows, CalibrationRows: rows}}
	spec := newSpec(s, found, rows, 1, partitions)
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	calibrated := time.Now()
	e := &Explored{
		Report: found.Report, Warning: found.Warning,
		Seconds: map[string]float64{StageCalibrate: calibrated.Sub(began).Seconds()},
	}
	bank, held := NewBank(spec, s.Exploration.CandidateMemory, 1), &holder{limit: s.Exploration.RowMemory}
	e.Seconds[StageSubsample] = time.Since(calibrated).Seconds()
	for spec != nil {
		if spec, err = e.pass(ctx, spec, bank, held, open); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// pass makes one pass over the rows of a file and returns the spec of the next one, nil when the set is there.
func (e *Explored) pass(
	ctx context.Context, spec *wire.Spec, bank *scoring.Bank, held *holder, open func() (RowReader, error),
) (*wire.Spec, error) {
	began := time.Now()
	core, err := NewSubsampler(spec, bank, spec.Partitions[0], nil)
	if err != nil {
		return nil, err
	}
	if rows := held.of(spec, 0); rows != nil {
		core.takeHeld(rows)
	} else {
		core.held = held.start(spec, 0)
		err = core.readFile(ctx, open)
	}
	if err != nil {
		return nil, err
	}
	checkpoint := core.Checkpoint(time.Now())
	if spec.Pass == 0 {
		e.Values = scoring.CriterionValues(checkpoint.Sums, spec.Encoder.Label.Task, spec.Criterion)
	}
	subsampled := time.Now()
	set, next, err := EndPass(spec, []*wire.Checkpoint{checkpoint}, subsampled)
	e.Set = set
	e.Seconds[StageSubsample] += subsampled.Sub(began).Seconds()
	e.Seconds[StageSelect] += time.Since(subsampled).Seconds()
	return next, err
}

// readFile takes the rows of a file until the partition closes, at the latest at the end of the file.
func (s *Subsampler) readFile(ctx context.Context, open func() (RowReader, error)) error {
	err := EachBatch(ctx, open, func(offset int64, batch arrow.Record) error {
		if s.Closed() {
			return io.EOF
		}
		_, err := s.Add(offset, []arrow.Record{batch})
		return err
	})
	if err == nil && !s.Closed() {
		s.closedBy = wire.CloseEnd
	}
	return err
}

func calibrateOnRows(ctx context.Context, s Settings, open func() (RowReader, error)) (*Calibrated, int64, error) {
	calibration := NewCalibration(s.Events)
	defer calibration.Release()
	wanted := s.Exploration.CalibrationRows
	err := EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		n := min(batch.NumRows(), wanted-calibration.Rows())
		head := batch.NewSlice(0, n)
		defer head.Release()
		if err := calibration.Add(0, calibration.Rows(), head); err != nil {
			return err
		}
		if calibration.Rows() >= wanted {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("calibrate: %w", err)
	}
	found, err := calibration.Finish(s.Exploration)
	return found, calibration.Rows(), err
}

// EachBatch calls do for the batches of a file, numbered from 0, until the end, an error, or io.EOF from do.
func EachBatch(ctx context.Context, open func() (RowReader, error), do func(number int64, batch arrow.Record) error) error {
	reader, err := open()
	if err != nil {
		return err
	}
	if closer, ok := reader.(io.Closer); ok {
		defer closer.Close()
	}
	for number := int64(0); ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = do(number, batch)
		batch.Release()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// RowWriter takes batches of rows.
type RowWriter interface {
	Write(arrow.Record) error
}

// TransformSchema is the schema of what TransformFile writes for rows of the given schema.
func TransformSchema(set *wire.FeatureSet, rows *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, name := range outputColumns(set.Encoder) {
		if at := rows.FieldIndices(name); len(at) > 0 {
			field := rows.Field(at[0])
			fields = append(fields, arrow.Field{Name: field.Name, Type: field.Type, Nullable: field.Nullable})
		}
	}
	m := int32(set.Set.Features.Len())
	fields = append(fields,
		arrow.Field{Name: wire.ColumnRow, Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: wire.ColumnFeatures, Type: arrow.FixedSizeListOfNonNullable(m, arrow.PrimitiveTypes.Float32)})
	return arrow.NewSchema(fields, nil)
}

// outputColumns are the columns of an event that stand beside its features.
func outputColumns(enc *encoder.Encoder) []string {
	columns := append([]string(nil), enc.Passthrough...)
	if enc.Label != nil {
		columns = append(columns, enc.Label.Columns...)
	}
	return columns
}

// TransformFile maps the rows of a file to features: passthrough and label columns, the row's number in the file, the
// feature vector. Rows that cannot be used are left out and counted.
func TransformFile(ctx context.Context, set *wire.FeatureSet, open func() (RowReader, error), schema *arrow.Schema, w RowWriter) (FeaturizeCounts, error) {
	f := fileTransformer{set: set, schema: schema, out: w}
	f.transform, f.encoder = newTransformer(set)
	err := EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		return eachChunk(batch, set.Encoder.Dim, func(_ int64, chunk arrow.Record) error { return f.write(chunk) })
	})
	return f.counts, err
}

type fileTransformer struct {
	set       *wire.FeatureSet
	transform *scoring.Transformer
	encoder   rowEncoder
	schema    *arrow.Schema
	out       RowWriter
	rows      encoder.Rows
	features  []float32
	counts    FeaturizeCounts
}

func (f *fileTransformer) write(batch arrow.Record) error {
	if err := f.set.Encoder.Check(batch.Schema()); err != nil {
		return err
	}
	if err := f.encoder.encode(&f.rows, batch, nil); err != nil {
		return err
	}
	m := f.transform.Len()
	f.features = make([]float32, f.rows.N*m) // the writer may keep it
	f.transform.Transform(f.features, f.rows.X[:f.rows.N*f.rows.Dim], f.rows.N)
	kept, err := TakeRows(batch, f.rows.Row[:f.rows.N], outputColumns(f.set.Encoder))
	if err != nil {
		return err
	}
	defer kept.Release()
	numbers, vectors := f.columns(m)
	defer numbers.Release()
	defer vectors.Release()
	out := array.NewRecord(f.schema, append(append([]arrow.Array(nil), kept.Columns()...), numbers, vectors), int64(f.rows.N))
	defer out.Release()
	f.counts.addEncoded(f.rows.Counts, f.rows.N, int(batch.NumRows()))
	return f.out.Write(out)
}

// columns are the row numbers in the file and the features of the encoded rows.
func (f *fileTransformer) columns(m int) (numbers, vectors arrow.Array) {
	rows := array.NewInt64Builder(memory.DefaultAllocator)
	defer rows.Release()
	for _, row := range f.rows.Row[:f.rows.N] {
		rows.Append(f.counts.Rows + int64(row))
	}
	values := array.NewData(arrow.PrimitiveTypes.Float32, len(f.features),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(f.features))}, nil, 0, 0)
	defer values.Release()
	lists := array.NewData(f.schema.Field(f.schema.FieldIndices(wire.ColumnFeatures)[0]).Type, f.rows.N,
		[]*memory.Buffer{nil}, []arrow.ArrayData{values}, 0, 0)
	defer lists.Release()
	return rows.NewArray(), array.NewFixedSizeListData(lists)
}

package stages

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

// noon is the time at which everything in these tests happens.
var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// Tasks of the generated events, by the label that they have.
const (
	taskRegression = "regression" // numbers
	taskBinary     = "binary"     // two words
	taskClasses    = "classes"    // four words
)

var tasks = []string{taskRegression, taskBinary, taskClasses}

// faults are the probabilities with which generated rows are bad, by kind.
type faults struct {
	badFeature, badLabel, noLabel, unseenClass, null, unseenCategory float64
}

// someFaults makes every kind of bad row common.
var someFaults = faults{badFeature: 0.1, badLabel: 0.1, noLabel: 0.1, unseenClass: 0.1, null: 0.1, unseenCategory: 0.1}

var eventSchema = map[string]*arrow.Schema{
	taskRegression: schemaWithLabel(arrow.PrimitiveTypes.Float64),
	taskBinary:     schemaWithLabel(arrow.BinaryTypes.String),
	taskClasses:    schemaWithLabel(arrow.BinaryTypes.String),
}

func schemaWithLabel(label arrow.DataType) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "b", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "color", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "v", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "y", Type: label, Nullable: true},
	}, nil)
}

// events generates rows; row i is a function of the seed and i alone. The column id names each row: "row-<i>".
func events(t testing.TB, task string, rows int, seed uint64, f faults) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, eventSchema[task])
	defer b.Release()
	for i := range rows {
		appendEvent(b, task, i, rand.New(rand.NewPCG(seed, uint64(i))), f)
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

func appendEvent(b *array.RecordBuilder, task string, i int, rng *rand.Rand, f faults) {
	hits := func(p float64) bool { return rng.Float64() < p }
	a, c := rng.NormFloat64()*3+10, float32(rng.NormFloat64())
	color := []string{"blue", "green", "red"}[rng.IntN(3)]
	flag := hits(0.3)
	signal := math.Cos(a/2) + float64(c) + map[string]float64{"blue": 0, "green": 1, "red": -1}[color]
	if hits(f.badFeature) {
		a = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
	}
	if hits(f.unseenCategory) {
		color = "ultraviolet"
	}
	appendOr(b.Field(0).(*array.Float64Builder).Append, b.Field(0), a, hits(f.null))
	appendOr(b.Field(1).(*array.Float32Builder).Append, b.Field(1), c, hits(f.null))
	appendOr(b.Field(2).(*array.StringBuilder).Append, b.Field(2), color, hits(f.null))
	appendOr(b.Field(3).(*array.BooleanBuilder).Append, b.Field(3), flag, hits(f.null))
	vector := b.Field(4).(*array.FixedSizeListBuilder)
	vector.Append(true)
	for range 2 {
		vector.ValueBuilder().(*array.Float32Builder).Append(float32(rng.ExpFloat64()))
	}
	b.Field(5).(*array.StringBuilder).Append(fmt.Sprintf("row-%d", i))
	appendLabel(b.Field(6), task, signal, rng, f)
}

func appendOr[T any](add func(T), b array.Builder, v T, null bool) {
	if null {
		b.AppendNull()
		return
	}
	add(v)
}

func appendLabel(b array.Builder, task string, signal float64, rng *rand.Rand, f faults) {
	noise := signal + 0.3*rng.NormFloat64()
	switch u := rng.Float64(); {
	case u < f.noLabel:
		b.AppendNull()
	case task == taskRegression && u < f.noLabel+f.badLabel:
		b.(*array.Float64Builder).Append([]float64{math.NaN(), math.Inf(1), 1e300}[rng.IntN(3)])
	case task == taskRegression:
		b.(*array.Float64Builder).Append(500 + 7*noise)
	case u < f.noLabel+f.unseenClass:
		b.(*array.StringBuilder).Append("stranger")
	case task == taskBinary:
		b.(*array.StringBuilder).Append([]string{"no", "yes"}[btoi(noise > 0)])
	default:
		b.(*array.StringBuilder).Append([]string{"east", "north", "south", "west"}[btoi(noise > 0)+2*btoi(rng.Float64() < 0.4)])
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// testSettings explores 40 candidates for 10 features on every third row. The classes are configured: those of bad rows
// stay unseen.
func testSettings(task string) Settings {
	s := Default()
	s.Events.Classes = map[string][]string{
		taskBinary: {"no", "yes"}, taskClasses: {"east", "north", "south", "west"},
	}[task]
	s.Pipeline.Name = "test"
	s.Events.Label, s.Events.Passthrough = []string{"y"}, []string{"id"}
	s.Exploration.Candidates, s.Exploration.Features = 40, 10
	s.Exploration.Criterion = scoring.Correlation // one pass; what takes several has tests of its own
	s.Exploration.SampleRate, s.Exploration.SampleRows = 0.34, 0
	s.Exploration.CalibrationRows = 300
	s.Exploration.Sigma = 1.5 // the neighbour rule has its own tests
	return s
}

// plan calibrates on the rows and plans an exploration of the partitions. A regression's labels have bounds, so that
// some can be beyond them.
func plan(t testing.TB, s Settings, rows arrow.Record, partitions ...wire.Partition) *wire.Spec {
	t.Helper()
	c := NewCalibration(s.Events)
	defer c.Release()
	if err := c.Add(0, 0, rows); err != nil {
		t.Fatal(err)
	}
	found, err := c.Finish(s.Exploration)
	if err != nil {
		t.Fatal(err)
	}
	spec := newSpec(s, found, c.Rows(), 1, partitions)
	if err := spec.Validate(); err != nil {
		t.Fatal(err)
	}
	return spec
}

// cut slices rows into batches whose sizes the function gives.
func cut(t testing.TB, rows arrow.Record, size func() int) []arrow.Record {
	t.Helper()
	var batches []arrow.Record
	for first := int64(0); first < rows.NumRows(); {
		next := min(first+int64(size()), rows.NumRows())
		batch := rows.NewSlice(first, next)
		t.Cleanup(batch.Release)
		batches = append(batches, batch)
		first = next
	}
	return batches
}

// every is a size for cut that is always the same.
func every(n int) func() int { return func() int { return n } }

// upToRows is a size for cut between 1 and n.
func upToRows(rng *rand.Rand, n int) func() int { return func() int { return 1 + rng.IntN(n) } }

// message is the bytes of a message of the batches.
func message(t testing.TB, batches ...arrow.Record) []byte {
	t.Helper()
	value, err := arrowio.EncodeStream(batches[0].Schema(), batches...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// decode reads a message that must be good.
func decode(t testing.TB, value []byte) []arrow.Record {
	t.Helper()
	batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(value)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { releaseAll(batches) })
	return batches
}

// sliceReader is a file of batches in memory.
type sliceReader struct{ left []arrow.Record }

func (r *sliceReader) Next() (arrow.Record, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	batch := r.left[0]
	r.left = r.left[1:]
	batch.Retain()
	return batch, nil
}

// file opens the batches again and again.
func file(batches []arrow.Record) func() (RowReader, error) {
	return func() (RowReader, error) { return &sliceReader{batches}, nil }
}

// explore runs the file exploration of the rows and returns what it found.
func explore(t testing.TB, s Settings, batches []arrow.Record) *Explored {
	t.Helper()
	found, err := ExploreFile(t.Context(), s, "file", file(batches))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fullSpan is partition 0 from its first offset on, without an end.
func fullSpan(quota int64) wire.Partition { return wire.Partition{EndOffset: -1, Quota: quota} }

// newSubsampler starts a partition of a spec.
func newSubsampler(t testing.TB, spec *wire.Spec, part wire.Partition, from *wire.Checkpoint) *Subsampler {
	t.Helper()
	s, err := NewSubsampler(spec, NewBank(spec, 0, 1), part, from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// header returns the last header of a key, which must be there.
func header(t testing.TB, r pipeline.Record, key string) string {
	t.Helper()
	for i := len(r.Headers) - 1; i >= 0; i-- {
		if r.Headers[i].Key == key {
			return string(r.Headers[i].Value)
		}
	}
	t.Fatalf("no header %s", key)
	return ""
}

// withSchema returns the rows under other names. The caller releases them.
func withSchema(rows arrow.Record, fields []arrow.Field) arrow.Record {
	return array.NewRecord(arrow.NewSchema(fields, nil), rows.Columns(), rows.NumRows())
}

package stagestest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/pipeline"
)

// Noon is the constant time of these tests.
var Noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// Tasks of the generated events, by their label.
const (
	Regression = "regression" // numbers
	Binary     = "binary"     // two words
	Classes    = "classes"    // four words
)

// Tasks lists all tasks.
var Tasks = []string{Regression, Binary, Classes}

// Faults are the probabilities with which generated rows are bad, by kind.
type Faults struct {
	BadFeature, BadLabel, NoLabel, UnseenClass, Null, UnseenCategory float64
}

// SomeFaults makes every kind of bad row common.
var SomeFaults = Faults{BadFeature: 0.1, BadLabel: 0.1, NoLabel: 0.1, UnseenClass: 0.1, Null: 0.1, UnseenCategory: 0.1}

// Schema is the schema of the events of a task.
var Schema = map[string]*arrow.Schema{
	Regression: schemaWithLabel(arrow.PrimitiveTypes.Float64),
	Binary:     schemaWithLabel(arrow.BinaryTypes.String),
	Classes:    schemaWithLabel(arrow.BinaryTypes.String),
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

// Events generates rows; row i is a function of the seed and i alone. The column id names each row:
// "row-<i>".
func Events(t testing.TB, task string, rows int, seed uint64, f Faults) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, Schema[task])
	defer b.Release()
	for i := range rows {
		appendEvent(b, task, i, rand.New(rand.NewPCG(seed, uint64(i))), f)
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

func appendEvent(b *array.RecordBuilder, task string, i int, rng *rand.Rand, f Faults) {
	hits := func(p float64) bool { return rng.Float64() < p }
	a, c := rng.NormFloat64()*3+10, float32(rng.NormFloat64())
	color := []string{"blue", "green", "red"}[rng.IntN(3)]
	flag := hits(0.3)
	signal := math.Cos(a/2) + float64(c) + map[string]float64{"blue": 0, "green": 1, "red": -1}[color]
	if hits(f.BadFeature) {
		a = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
	}
	if hits(f.UnseenCategory) {
		color = "ultraviolet"
	}
	appendOr(b.Field(0).(*array.Float64Builder).Append, b.Field(0), a, hits(f.Null))
	appendOr(b.Field(1).(*array.Float32Builder).Append, b.Field(1), c, hits(f.Null))
	appendOr(b.Field(2).(*array.StringBuilder).Append, b.Field(2), color, hits(f.Null))
	appendOr(b.Field(3).(*array.BooleanBuilder).Append, b.Field(3), flag, hits(f.Null))
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

func appendLabel(b array.Builder, task string, signal float64, rng *rand.Rand, f Faults) {
	noise := signal + 0.3*rng.NormFloat64()
	switch u := rng.Float64(); {
	case u < f.NoLabel:
		b.AppendNull()
	case task == Regression && u < f.NoLabel+f.BadLabel:
		b.(*array.Float64Builder).Append([]float64{math.NaN(), math.Inf(1), 1e300}[rng.IntN(3)])
	case task == Regression:
		b.(*array.Float64Builder).Append(500 + 7*noise)
	case u < f.NoLabel+f.UnseenClass:
		b.(*array.StringBuilder).Append("stranger")
	case task == Binary:
		b.(*array.StringBuilder).Append([]string{"no", "yes"}[Bit(noise > 0)])
	default:
		b.(*array.StringBuilder).Append([]string{"east", "north", "south", "west"}[Bit(noise > 0)+2*Bit(rng.Float64() < 0.4)])
	}
}

// Bit returns 1 for true and 0 for false.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Cut slices rows into batches of the sizes that the function returns.
func Cut(t testing.TB, rows arrow.Record, size func() int) []arrow.Record {
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

// Every returns a constant size for Cut.
func Every(n int) func() int { return func() int { return n } }

// UpTo returns random sizes between 1 and n for Cut.
func UpTo(rng *rand.Rand, n int) func() int { return func() int { return 1 + rng.IntN(n) } }

// Message returns the batches encoded as a message.
func Message(t testing.TB, batches ...arrow.Record) []byte {
	t.Helper()
	value, err := arrowio.EncodeStream(batches[0].Schema(), batches...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// Decode reads a valid message.
func Decode(t testing.TB, value []byte) []arrow.Record {
	t.Helper()
	batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(value)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, batch := range batches {
			batch.Release()
		}
	})
	return batches
}

// Header returns the last header with a key, which must exist.
func Header(t testing.TB, r pipeline.Record, key string) string {
	t.Helper()
	for i := len(r.Headers) - 1; i >= 0; i-- {
		if r.Headers[i].Key == key {
			return string(r.Headers[i].Value)
		}
	}
	t.Fatalf("no header %s", key)
	return ""
}

// WithSchema returns the rows with other column names. The caller releases them.
func WithSchema(rows arrow.Record, fields []arrow.Field) arrow.Record {
	return array.NewRecord(arrow.NewSchema(fields, nil), rows.Columns(), rows.NumRows())
}

// Must returns the value of a call that cannot fail here.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

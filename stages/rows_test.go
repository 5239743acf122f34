package stages

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// columnTypes are the types that an event's columns may have, nested ones included.
var columnTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int64,
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
	&arrow.FixedSizeBinaryType{ByteWidth: 3},
	&arrow.Decimal128Type{Precision: 20, Scale: 2}, &arrow.Decimal256Type{Precision: 50, Scale: 2},
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64ns,
	arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Duration_s,
	arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
	arrow.Null,
	arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.LargeListOf(arrow.BinaryTypes.String),
	arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32),
	arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)), arrow.ListOf(arrow.BinaryTypes.Binary), arrow.ListOf(arrow.BinaryTypes.LargeBinary),
	arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
	arrow.FixedSizeListOf(2, arrow.BinaryTypes.Binary), arrow.StructOf(arrow.Field{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}),
	arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}),
	arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int64},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.FixedWidthTypes.Float16},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: &arrow.FixedSizeBinaryType{ByteWidth: 3}},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: &arrow.Decimal128Type{Precision: 20, Scale: 2}},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.FixedWidthTypes.MonthDayNanoInterval},
}

// randomColumn fills a column with values that are easy to tell apart, a third of them null.
func randomColumn(t testing.TB, dt arrow.DataType, rows int, rng *rand.Rand) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for range rows {
		appendRandom(b, rng)
	}
	return b.NewArray()
}

// appendRandom appends a random value to a builder of one of the columnTypes.
func appendRandom(b array.Builder, rng *rand.Rand) {
	if rng.IntN(3) == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case *array.MapBuilder:
		b.Append(true)
		for i := range rng.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprintf("key-%d", i))
			appendRandom(b.ItemBuilder(), rng)
		}
	case *array.ListBuilder:
		b.Append(true)
		appendSome(b.ValueBuilder(), rng.IntN(4), rng)
	case *array.LargeListBuilder:
		b.Append(true)
		appendSome(b.ValueBuilder(), rng.IntN(4), rng)
	case *array.FixedSizeListBuilder:
		b.Append(true)
		appendSome(b.ValueBuilder(), 2, rng)
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendRandom(b.FieldBuilder(i), rng)
		}
	default:
		appendFlat(b, rng)
	}
}

func appendSome(b array.Builder, n int, rng *rand.Rand) {
	for range n {
		appendRandom(b, rng)
	}
}

// appendFlat appends a value by its text in the form that the type reads.
func appendFlat(b array.Builder, rng *rand.Rand) {
	n := rng.IntN(100)
	texts := []string{fmt.Sprint(n), fmt.Sprintf("%d.5", n), []string{"true", "false"}[n%2], "2026-01-02",
		fmt.Sprintf("00:00:%02d", n%60), fmt.Sprintf("2026-01-02 00:00:%02d", n%60), fmt.Sprintf("%ds", n),
		fmt.Sprintf(`{"days":%d,"milliseconds":%d}`, n, n), fmt.Sprintf(`{"months":%d,"days":1,"nanoseconds":%d}`, n, n), "YWJj"}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(fmt.Sprintf("word-%d", n))
		return
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte{byte(n), 2, 3})
		return
	case *array.BinaryBuilder:
		b.Append([]byte{byte(n)})
		return
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(fmt.Sprintf("word-%d", n)); err != nil {
			panic(err)
		}
		return
	case *array.FixedSizeBinaryDictionaryBuilder:
		if err := b.Append([]byte{byte(n), 2, 3}); err != nil {
			panic(err)
		}
		return
	}
	for _, text := range texts {
		length := b.Len()
		if b.AppendValueFromString(text) == nil && b.Len() == length+1 {
			return
		}
	}
	panic("no text for " + b.Type().String())
}

func TestTakeRowsOfEveryType(t *testing.T) {
	for _, dt := range columnTypes {
		t.Run(dt.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				n := rapid.IntRange(1, 40).Draw(rt, "rows")
				column := randomColumn(t, dt, n+7, rng)
				defer column.Release()
				// A slice: positions are relative to it, and its buffers are those of the whole.
				full := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil), []arrow.Array{column}, int64(n+7))
				defer full.Release()
				rec := full.NewSlice(5, int64(n+5))
				defer rec.Release()
				rows := someRows(rng, n, rapid.Float64Range(0, 1).Draw(rt, "share"))
				taken, err := TakeRows(rec, rows, nil)
				if err != nil {
					rt.Fatal(err)
				}
				defer taken.Release()
				// What is taken goes on the wire and comes back.
				batches, err := newEventReader(testSettings(taskRegression).Limits.decoder(), nil).read(message(t, taken))
				if err != nil {
					rt.Fatalf("the taken rows do not decode: %v", err)
				}
				defer releaseAll(batches)
				back := batches[0]
				if back.NumRows() != int64(len(rows)) || !arrow.TypeEqual(back.Column(0).DataType(), dt) {
					rt.Fatalf("%d rows of %v, want %d of %v", back.NumRows(), back.Column(0).DataType(), len(rows), dt)
				}
				for i, row := range rows {
					got, want := back.Column(0), rec.Column(0)
					if got.IsNull(i) != want.IsNull(int(row)) || got.ValueStr(i) != want.ValueStr(int(row)) {
						rt.Fatalf("row %d: %s, want %s", row, got.ValueStr(i), want.ValueStr(int(row)))
					}
				}
			})
		})
	}
}

// someRows are ascending rows, in runs and alone.
func someRows(rng *rand.Rand, n int, share float64) []int32 {
	var rows []int32
	for i := range n {
		if rng.Float64() < share {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func TestTakeRowsSelectsColumns(t *testing.T) {
	rec := events(t, taskRegression, 20, 30, someFaults)
	taken, err := TakeRows(rec, []int32{0, 3, 19}, []string{"id", "absent", "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Release()
	if taken.NumCols() != 2 || taken.ColumnName(0) != "id" || taken.ColumnName(1) != "a" || taken.NumRows() != 3 {
		t.Fatalf("took %v", taken.Schema())
	}
	if got := taken.Column(0).ValueStr(2); got != "row-19" {
		t.Fatalf("last row is %s", got)
	}
	none, err := TakeRows(rec, []int32{4, 5}, []string{})
	if err != nil || none.NumRows() != 2 || none.NumCols() != 0 {
		t.Fatalf("rows without columns: %v, %v", none, err)
	}
	none.Release()
	for name, rows := range map[string][]int32{"descending": {3, 1}, "twice": {2, 2}, "negative": {-1, 2}, "beyond the end": {19, 20}} {
		if taken, err := TakeRows(rec, rows, nil); err == nil {
			taken.Release()
			t.Errorf("rows %s were taken", name)
		}
	}
}

// Whatever the columns of an event are, rejected rows find their way to the dead letters.
func TestRejectedRowsOfAnyColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n = 12
	var fields []arrow.Field
	var columns []arrow.Array
	for i, dt := range columnTypes {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt, Nullable: true})
		columns = append(columns, randomColumn(t, dt, n, rng))
	}
	for _, name := range []string{"twice", "twice", wire.ColumnRejectedRow, wire.ColumnRejectedReason, wire.ColumnRow, wire.ColumnFeatures} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true})
		columns = append(columns, randomColumn(t, arrow.PrimitiveTypes.Int64, n, rng))
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, n)
	defer rec.Release()
	releaseColumns(columns)
	source := pipeline.Record{Topic: "events", Partition: 3, Offset: 77, Key: []byte("k"), Headers: []pipeline.Header{{Key: "h", Value: []byte("v")}}}
	letter, err := rejectedRows(StageSubsample, source, rec, 100, []RejectedRow{{Row: 2, Reason: "nan_feature"}, {Row: 3, Reason: "inf_label"}, {Row: 11, Reason: "nan_label"}}, noon)
	if err != nil {
		t.Fatal(err)
	}
	body := decode(t, letter.Value)[0]
	numbers := body.Column(slices.Max(body.Schema().FieldIndices(wire.ColumnRejectedRow))).(*array.Int32).Int32Values()
	if !slices.Equal(numbers, []int32{102, 103, 111}) {
		t.Fatalf("rows %v", numbers)
	}
	reasons := body.Column(body.Schema().FieldIndices(wire.ColumnRejectedReason)[0]).(*array.String)
	if reasons.Value(0) != "nan_feature" || reasons.Value(1) != "inf_label" || reasons.Value(2) != "nan_label" {
		t.Fatalf("reasons %v", reasons)
	}
	if got := body.Column(body.Schema().FieldIndices("c7")[0]).ValueStr(2); got != rec.Column(7).ValueStr(11) {
		t.Fatalf("the row's values are lost: %s", got)
	}
	parsed, err := wire.ParseDeadLetterHeaders(wireHeaders(letter.Headers))
	if err != nil {
		t.Fatal(err)
	}
	want := wire.DeadLetter{Stage: StageSubsample, Reason: "nan_feature", Detail: parsed.Detail, Topic: "events", Partition: 3, Offset: 77, Time: noon, Rows: 3}
	if parsed != want || string(letter.Key) != "k" || header(t, letter, "h") != "v" {
		t.Fatalf("headers say %+v, want %+v", parsed, want)
	}
}

func releaseColumns(columns []arrow.Array) {
	for _, c := range columns {
		c.Release()
	}
}

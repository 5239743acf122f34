package stagestest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ColumnTypes are the types that an event's columns may have, nested ones included.
var ColumnTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8,
	arrow.PrimitiveTypes.Uint16,
	arrow.PrimitiveTypes.Int64,
	arrow.FixedWidthTypes.Float16,
	arrow.PrimitiveTypes.Float32,
	arrow.PrimitiveTypes.Float64,
	arrow.BinaryTypes.String,
	arrow.BinaryTypes.LargeString,
	arrow.BinaryTypes.Binary,
	arrow.BinaryTypes.LargeBinary,
	&arrow.FixedSizeBinaryType{ByteWidth: 3},
	&arrow.Decimal128Type{Precision: 20, Scale: 2},
	&arrow.Decimal256Type{Precision: 50, Scale: 2},
	arrow.FixedWidthTypes.Date32,
	arrow.FixedWidthTypes.Date64,
	arrow.FixedWidthTypes.Time32ms,
	arrow.FixedWidthTypes.Time64ns,
	arrow.FixedWidthTypes.Timestamp_us,
	arrow.FixedWidthTypes.Duration_s,
	arrow.FixedWidthTypes.MonthInterval,
	arrow.FixedWidthTypes.DayTimeInterval,
	arrow.FixedWidthTypes.MonthDayNanoInterval,
	arrow.Null,
	arrow.ListOf(arrow.PrimitiveTypes.Int32),
	arrow.LargeListOf(arrow.BinaryTypes.String),
	arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32),
	arrow.ListOf(
		arrow.ListOf(arrow.BinaryTypes.String),
	),
	arrow.ListOf(arrow.BinaryTypes.Binary),
	arrow.ListOf(arrow.BinaryTypes.LargeBinary),
	arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
	arrow.FixedSizeListOf(
		2,
		arrow.BinaryTypes.Binary,
	),
	arrow.StructOf(arrow.Field{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}),
	arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}),
	arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int64},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.FixedWidthTypes.Float16},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: &arrow.FixedSizeBinaryType{ByteWidth: 3}},
	&arrow.DictionaryType{
		IndexType: arrow.PrimitiveTypes.Int16,
		ValueType: &arrow.Decimal128Type{Precision: 20, Scale: 2},
	},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.FixedWidthTypes.MonthDayNanoInterval},
}

// RandomColumn fills a column with distinguishable values, a third of them null.
func RandomColumn(t testing.TB, dt arrow.DataType, rows int, rng *rand.Rand) arrow.Array {
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

// appendFlat appends a value from its text in the type's format.
func appendFlat(b array.Builder, rng *rand.Rand) {
	n := rng.IntN(100)
	texts := []string{fmt.Sprint(n), fmt.Sprintf("%d.5", n), []string{"true", "false"}[n%2], "2026-01-02",
		fmt.Sprintf("00:00:%02d", n%60), fmt.Sprintf("2026-01-02 00:00:%02d", n%60), fmt.Sprintf("%ds", n),
		fmt.Sprintf(
			`{"days":%d,"milliseconds":%d}`,
			n,
			n,
		), fmt.Sprintf(`{"months":%d,"days":1,"nanoseconds":%d}`, n, n), "YWJj"}
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

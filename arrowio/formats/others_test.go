package formats

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/twmb/avro"

	"github.com/eerf-stream/eerf/arrowio/formats/formatstest"
)

// sampleRecord has a column of every type that all formats support, with nulls.
func sampleRecord(t testing.TB, n int) arrow.Record {
	t.Helper()
	vector := arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float64)
	schema := arrow.NewSchema([]arrow.Field{
		{
			Name:     "amount",
			Type:     arrow.PrimitiveTypes.Float64,
			Nullable: true,
		}, {Name: "rate", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{
			Name:     "age",
			Type:     arrow.PrimitiveTypes.Int32,
			Nullable: true,
		}, {Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{
			Name:     "member",
			Type:     arrow.FixedWidthTypes.Boolean,
			Nullable: true,
		}, {Name: "country", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "v", Type: vector, Nullable: true}, {Name: "y", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Float64Builder).Append(float64(i*i)/3 - 1)
		b.Field(1).(*array.Float32Builder).Append(float32(i) / 7)
		b.Field(2).(*array.Int32Builder).Append(int32(i%90) - 5)
		b.Field(3).(*array.Int64Builder).Append(math.MaxInt64 - int64(i))
		b.Field(4).(*array.BooleanBuilder).Append(i%3 == 0)
		b.Field(5).(*array.StringBuilder).Append([]string{"se", "été \"x\"", "", "no\n"}[i%4])
		list := b.Field(6).(*array.FixedSizeListBuilder)
		list.Append(true)
		list.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{float64(i), 0.1, -1e-300}, nil)
		b.Field(7).(*array.StringBuilder).Append([]string{"yes", "no"}[i%2])
		if i%5 == 4 {
			for _, f := range []int{0, 2, 4, 5} {
				setNull(b.Field(f))
			}
		}
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

// setNull replaces the last value of a builder by a null.
func setNull(b array.Builder) {
	b.Resize(b.Len())
	b.(interface{ SetNull(int) }).SetNull(b.Len() - 1)
}

// messages writes a record, and returns the schema of the messages; framed names it 7.
func messages(t testing.TB, f Format, rec arrow.Record, frame bool) (schema string, made [][]byte) {
	t.Helper()
	switch f {
	case Avro:
		schema, made = formatstest.Avro(t, rec)
	case Protobuf:
		schema, made = formatstest.Protobuf(t, rec)
		for i := range made {
			if frame {
				made[i] = append([]byte{0}, made[i]...) // of the first type in the schema
			}
		}
	default:
		made = [][]byte{formatstest.JSON(t, rec)}
	}
	for i := range made {
		if frame {
			made[i] = formatstest.Framed(7, made[i])
		}
	}
	return schema, made
}

// TestReadsOutputOfLibraries writes rows in each format with the libraries for Avro and Protobuf,
// and reads the same values.
func TestReadsOutputOfLibraries(t *testing.T) {
	rec := sampleRecord(t, 23)
	_, _, want := render(rec)
	for _, c := range []struct {
		format Format
		frame  bool
	}{{JSON, false}, {JSON, true}, {Avro, false}, {Avro, true}, {Protobuf, false}, {Protobuf, true}} {
		t.Run(fmt.Sprintf("%s framed=%v", c.format, c.frame), func(t *testing.T) {
			schema, made := messages(t, c.format, rec, c.frame)
			options := Options{Format: c.format, Schema: schema}
			if c.frame {
				options = Options{Registry: schemas{7: {Format: c.format, Text: schema}}}
			}
			d := NewDecoder(options)
			var got [][]string
			for _, m := range made {
				_, _, cells, err := rows(t, d, m)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, cells...)
			}
			if c.format == JSON { // float32 has the digits of float64 there
				for i := range want {
					got[i][1] = want[i][1]
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q\nwant %q", got, want)
			}
		})
	}
}

// TestTimesAndDecimals checks that Avro times and decimals keep their types.
func TestTimesAndDecimals(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us},
		{
			Name: "local",
			Type: &arrow.TimestampType{Unit: arrow.Millisecond},
		}, {Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Date32Builder).Append(20_000)
	b.Field(1).(*array.TimestampBuilder).Append(1_700_000_000_123_456)
	b.Field(2).(*array.TimestampBuilder).Append(-5)
	b.Field(3).(*array.Decimal128Builder).Append(decimal128.FromI64(-12345))
	rec := b.NewRecord()
	defer rec.Release()
	_, wantTypes, want := render(rec)
	const text = `{"type": "record", "name": "Event", "fields": [{"name": "day", "type": {"type": "int", "logicalType": "date"}},
		{"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
		{"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
		{"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}}]}`
	made, err := avro.MustParse(text).Encode(map[string]any{
		"day": int32(20_000), "at": int64(1_700_000_000_123_456), "local": int64(-5), "price": []byte{0xcf, 0xc7}})
	if err != nil {
		t.Fatal(err)
	}
	_, types, got, err := rows(t, NewDecoder(Options{Format: Avro, Schema: text}), made)
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(types, wantTypes) {
		t.Errorf("%q %q %v, want %q %q", types, got, err, wantTypes, want)
	}
}

package formats

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/twmb/avro"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// sampleRecord has a column of every type that all formats support, with nulls.
func sampleRecord(t testing.TB, n int) arrow.Record {
	t.Helper()
	vector := arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float64)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "amount", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "rate", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "age", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "member", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "country", Type: arrow.BinaryTypes.String, Nullable: true},
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

// messages writes a record.
func messages(t testing.TB, f Format, rec arrow.Record, frame bool) (*Writer, [][]byte) {
	t.Helper()
	w, err := NewWriter(f, rec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if frame {
		w.Frame(7)
	}
	made, err := w.Messages(rec)
	if err != nil {
		t.Fatal(err)
	}
	return w, made
}

// TestWhatIsWrittenIsRead writes rows in each format and reads the same values.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rec := sampleRecord(t, 23)
	_, _, want := render(rec)
	for _, c := range []struct {
		format Format
		frame  bool
	}{{JSON, false}, {JSON, true}, {Avro, false}, {Avro, true}, {Protobuf, false}, {Protobuf, true}} {
		t.Run(fmt.Sprintf("%s framed=%v", c.format, c.frame), func(t *testing.T) {
			w, made := messages(t, c.format, rec, c.frame)
			options := Options{Format: c.format, Schema: w.Schema()}
			if c.frame {
				options = Options{Registry: schemas{7: {Format: c.format, Text: w.Schema()}}}
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

// TestOthersReadWhatIsWritten: the libraries that parse the schemas can read the messages too.
func TestOthersReadWhatIsWritten(t *testing.T) {
	rec := sampleRecord(t, 6)
	w, made := messages(t, Avro, rec, true)
	schema := avro.MustParse(w.Schema())
	for row, m := range made {
		var got map[string]any
		if _, err := schema.Decode(m[frameBytes:], &got); err != nil {
			t.Fatal(err)
		}
		if want := rec.Column(0).(*array.Float64).Value(row); row%5 == 4 && got["amount"] != nil || row%5 != 4 && got["amount"] != want {
			t.Errorf("row %d: %v", row, got)
		}
	}
	w, made = messages(t, Protobuf, rec, true)
	file, err := compileProto(&Schema{Text: w.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	for row, m := range made {
		got := dynamicpb.NewMessage(file.Messages().Get(0))
		if err := proto.Unmarshal(m[frameBytes+1:], got); err != nil {
			t.Fatal(err)
		}
		id := got.Get(file.Messages().Get(0).Fields().ByName("id")).Int()
		if want := rec.Column(3).(*array.Int64).Value(row); id != want {
			t.Errorf("row %d: %d, want %d", row, id, want)
		}
	}
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		format Format
		field  arrow.Field
		says   string
	}{
		"name in avro":     {Avro, arrow.Field{Name: "capital-gain", Type: arrow.PrimitiveTypes.Int64}, "capital-gain"},
		"name in protobuf": {Protobuf, arrow.Field{Name: "a.b", Type: arrow.PrimitiveTypes.Int64}, "a.b"},
		"map":              {JSON, arrow.Field{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)}, "cannot hold map"},
		"decimal":          {Protobuf, arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}}, "cannot hold decimal"},
		"unknown":          {Auto, arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64}, "not one of arrow, json, avro, protobuf"},
	} {
		_, err := NewWriter(c.format, arrow.NewSchema([]arrow.Field{c.field}, nil))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTimesAndDecimals checks that Avro keeps their types and JSON writes them as text.
func TestTimesAndDecimals(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32}, {Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "local", Type: &arrow.TimestampType{Unit: arrow.Millisecond}}, {Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Date32Builder).Append(20_000)
	b.Field(1).(*array.TimestampBuilder).Append(1_700_000_000_123_456)
	b.Field(2).(*array.TimestampBuilder).Append(-5)
	b.Field(3).(*array.Decimal128Builder).Append(decimal128.FromI64(-12345))
	rec := b.NewRecord()
	defer rec.Release()
	_, wantTypes, want := func() ([]string, []string, [][]string) { return render(rec) }()
	w, made := messages(t, Avro, rec, false)
	_, types, got, err := rows(t, NewDecoder(Options{Format: Avro, Schema: w.Schema()}), made[0])
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(types, wantTypes) {
		t.Errorf("%q %q %v, want %q %q", types, got, err, wantTypes, want)
	}
	_, made = messages(t, JSON, rec, false)
	const text = `{"day":"2024-10-04","at":"2023-11-14T22:13:20.123456Z","local":"1969-12-31T23:59:59.995","price":-123.45}`
	if string(made[0]) != text {
		t.Errorf("%s", made[0])
	}
}

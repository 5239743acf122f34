package formats

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/cputime"
)

// benchRecord has ten numbers, a category and a label.
func benchRecord(n int) arrow.Record {
	fields := []arrow.Field{{Name: "country", Type: arrow.BinaryTypes.String}, {Name: "y", Type: arrow.PrimitiveTypes.Int64}}
	for i := range 10 {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("x", i), Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for row := range n {
		b.Field(0).(*array.StringBuilder).Append([]string{"se", "no", "dk"}[row%3])
		b.Field(1).(*array.Int64Builder).Append(int64(row % 2))
		for i := range 10 {
			b.Field(2 + i).(*array.Float64Builder).Append(float64(row*(i+1)) / 7)
		}
	}
	return b.NewRecord()
}

// BenchmarkDecode reads messages of each format, with many rows and with one, and measures processor
// time.
func BenchmarkDecode(b *testing.B) {
	const many = 1024
	for _, c := range []struct {
		name   string
		format Format
		rows   int
		frame  bool
	}{
		{"arrow/1024", Arrow, many, false}, {"json/1024", JSON, many, false},
		{"arrow/1", Arrow, 1, false}, {"json/1", JSON, 1, false}, {"avro/1", Avro, 1, true}, {"protobuf/1", Protobuf, 1, true},
	} {
		rec := benchRecord(c.rows)
		options := Options{}
		var value []byte
		var err error
		if c.format == Arrow {
			value, err = arrowio.EncodeStream(rec.Schema(), rec)
		} else {
			w, made := messages(b, c.format, rec, c.frame)
			value, options.Registry = made[0], schemas{7: {Format: c.format, Text: w.Schema()}}
		}
		if err != nil {
			b.Fatal(err)
		}
		rec.Release()
		b.Run(c.name, func(b *testing.B) {
			d := NewDecoder(options)
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			used := cputime.Process()
			for b.Loop() {
				recs, err := d.Decode(value)
				if err != nil {
					b.Fatal(err)
				}
				release(recs)
			}
			used = cputime.Process() - used
			b.ReportMetric(float64(c.rows)*float64(b.N)/used.Seconds(), "rows/cpu-s")
			b.ReportMetric(float64(len(value))*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
		})
	}
}

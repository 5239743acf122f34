package arrowio

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// benchColumns is the number of features in the benchmarked streams.
const benchColumns = 77

// columnsRecord has 77 columns of float32.
func columnsRecord(rows int) arrow.Record {
	var fields []arrow.Field
	for j := range benchColumns {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("feature_%02d", j), Type: arrow.PrimitiveTypes.Float32})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for j := range fields {
		for i := range rows {
			b.Field(j).(*array.Float32Builder).Append(float32(i*j) / 7)
		}
	}
	return b.NewRecord()
}

// vectorRecord has one column of fixed-size lists of 77 float32.
func vectorRecord(rows int) arrow.Record {
	dtype := arrow.FixedSizeListOf(benchColumns, arrow.PrimitiveTypes.Float32)
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "features", Type: dtype}}, nil))
	defer b.Release()
	lists := b.Field(0).(*array.FixedSizeListBuilder)
	values := lists.ValueBuilder().(*array.Float32Builder)
	for i := range rows {
		lists.Append(true)
		for j := range benchColumns {
			values.Append(float32(i*j) / 7)
		}
	}
	return b.NewRecord()
}

func benchRecords() map[string]arrow.Record {
	all := make(map[string]arrow.Record)
	for _, rows := range []int{256, 4096} {
		all[fmt.Sprintf("%d_rows_%d_columns", rows, benchColumns)] = columnsRecord(rows)
		all[fmt.Sprintf("%d_rows_list%d", rows, benchColumns)] = vectorRecord(rows)
	}
	return all
}

func BenchmarkDecode(b *testing.B) {
	for name, rec := range benchRecords() {
		for codec, options := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
			stream := write(b, rec.Schema(), []arrow.Record{rec}, options...)
			b.Run(name+"/"+codec, func(b *testing.B) { benchDecode(b, stream) })
		}
	}
}

func benchDecode(b *testing.B, stream []byte) {
	b.Helper()
	d := NewDecoder(Limits{})
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		recs, err := d.Decode(stream)
		if err != nil {
			b.Fatal(err)
		}
		releaseAll(recs)
	}
}

// BenchmarkDecodeText measures validation where it has most to do.
func BenchmarkDecodeText(b *testing.B) {
	build := array.NewStringBuilder(memory.DefaultAllocator)
	defer build.Release()
	for i := range 4096 {
		if i%17 == 0 {
			build.AppendNull()
		} else {
			build.Append(fmt.Sprintf("category %d", i%50))
		}
	}
	col := build.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: col.DataType(), Nullable: true}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{col}, int64(col.Len()))
	benchDecode(b, write(b, schema, []arrow.Record{rec}))
}

func BenchmarkEncodeStream(b *testing.B) {
	for name, rec := range benchRecords() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				raw, err := EncodeStream(rec.Schema(), rec)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(raw)))
			}
		})
	}
}

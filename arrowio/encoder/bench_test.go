package encoder

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

const (
	benchRows    = 4096
	benchColumns = 77
)

// benchColumnsOf returns a record of that many columns of normal numbers.
func benchColumnsOf(b *testing.B, dt arrow.DataType) arrow.Record {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	columns := make([]column, benchColumns)
	for j := range columns {
		columns[j] = column{fmt.Sprint("c", j), benchNumbers(random, dt, benchRows)}
	}
	return record(b, columns...)
}

// benchNumbers returns n normal numbers, those of integer columns spread over a thousand values.
func benchNumbers(random *rand.Rand, dt arrow.DataType, n int) arrow.Array {
	builder := array.NewBuilder(memory.DefaultAllocator, dt)
	for range n {
		switch builder := builder.(type) {
		case *array.Float32Builder:
			builder.Append(float32(random.NormFloat64()))
		case *array.Float64Builder:
			builder.Append(random.NormFloat64())
		case *array.Int64Builder:
			builder.Append(random.Int64N(1000))
		}
	}
	return builder.NewArray()
}

// benchList returns a record of one vector column.
func benchList(b *testing.B) arrow.Record {
	b.Helper()
	values := benchNumbers(rand.New(rand.NewPCG(1, 2)), f32, benchRows*benchColumns)
	data := array.NewData(list(benchColumns, f32), benchRows, []*memory.Buffer{nil}, []arrow.ArrayData{values.Data()}, 0, 0)
	return record(b, column{"v", array.NewFixedSizeListData(data)})
}

// benchWords returns a record of string columns of a few values.
func benchWords(b *testing.B, dt arrow.DataType) arrow.Record {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	columns := make([]column, 8)
	for j := range columns {
		columns[j] = col(b, fmt.Sprint("c", j), dt, sequence(benchRows, func(int) any { return fmt.Sprint("category", random.IntN(10)) })...)
	}
	return record(b, columns...)
}

func BenchmarkEncode(b *testing.B) {
	cases := []struct {
		name string
		rec  arrow.Record
	}{
		{"float32x77", benchColumnsOf(b, f32)}, {"float64x77", benchColumnsOf(b, f64)}, {"int64x77", benchColumnsOf(b, i64)},
		{"list77", benchList(b)}, {"string8", benchWords(b, text)}, {"dictionary8", benchWords(b, dict)},
	}
	for _, c := range cases {
		e, _ := calibrated(b, options(), c.rec)
		every20 := make([]int32, 0, benchRows/20)
		for row := int32(0); row < benchRows; row += 20 {
			every20 = append(every20, row)
		}
		b.Run(c.name, func(b *testing.B) { benchEncode(b, e, c.rec, nil) })
		b.Run(c.name+"/every20", func(b *testing.B) { benchEncode(b, e, c.rec, every20) })
	}
}

// benchEncode encodes the rows taken, over and over.
func benchEncode(b *testing.B, e *Encoder, rec arrow.Record, take []int32) {
	b.Helper()
	var rows Rows
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Encode(&rows, rec, take); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(rows.X)) * 4)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows.X)), "ns/value")
}

func BenchmarkCalibrate(b *testing.B) {
	for _, c := range []struct {
		name string
		rec  arrow.Record
	}{{"float64x77", benchColumnsOf(b, f64)}, {"int64x77", benchColumnsOf(b, i64)}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := NewCalibrator(options()).Add(c.rec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows/benchColumns, "ns/value")
		})
	}
}

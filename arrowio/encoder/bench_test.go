package encoder

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

const (
	benchRows    = 1024
	benchColumns = 77
)

// benchColumnsOf returns a record of benchmark columns with normal numbers.
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

// benchNulls returns a record of float32 columns in which every tenth value is null.
func benchNulls(b *testing.B) arrow.Record {
	b.Helper()
	columns := make([]column, benchColumns)
	for j := range columns {
		columns[j] = col(b, fmt.Sprint("c", j), f32, sequence(benchRows, func(i int) any {
			if i%10 == j%10 {
				return nil
			}
			return i % 100
		})...)
	}
	return record(b, columns...)
}

// benchTimes returns a record of columns of times over three years.
func benchTimes(b *testing.B, dt arrow.DataType) arrow.Record {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	columns := make([]column, 8)
	for j := range columns {
		columns[j] = col(b, fmt.Sprint("c", j), dt, sequence(benchRows, func(int) any {
			return time.UnixMilli(1.6e12 + random.Int64N(1e11)).UTC().Format("2006-01-02T15:04:05.000")
		})...)
	}
	return record(b, columns...)
}

func BenchmarkEncode(b *testing.B) {
	unclipped := options()
	unclipped.Clip = 0
	cases := []struct {
		name    string
		options Options
		rec     arrow.Record
		encode  func(e *Encoder, dst *Rows, rec arrow.Record, take []int32) error
	}{
		{"float32x77", options(), benchColumnsOf(b, f32), (*Encoder).Encode},
		{"float64x77", options(), benchColumnsOf(b, f64), (*Encoder).Encode},
		{"int64x77", options(), benchColumnsOf(b, i64), (*Encoder).Encode},
		{"nulls77", options(), benchNulls(b), (*Encoder).Encode},
		{"list77", options(), benchList(b), (*Encoder).Encode},
		{"string8", options(), benchWords(b, text), (*Encoder).Encode},
		{"missing77", Options{Clip: DefaultClip}, benchNulls(b), (*Encoder).Encode},
		{"timestamp8", options(), benchTimes(b, arrow.FixedWidthTypes.Timestamp_ms), (*Encoder).Encode},
		{"dates8", options(), benchTimes(b, text), (*Encoder).Encode},
		{"dictionary8", options(), benchWords(b, dict), (*Encoder).Encode},
		{"raw/float32x77", unclipped, benchColumnsOf(b, f32), (*Encoder).EncodeRaw},
		{"raw/list77", unclipped, benchList(b), (*Encoder).EncodeRaw},
	}
	every20 := make([]int32, 0, benchRows/20)
	for row := int32(0); row < benchRows; row += 20 {
		every20 = append(every20, row)
	}
	for _, c := range cases {
		e, _ := calibrated(b, c.options, c.rec)
		for name, take := range map[string][]int32{c.name: nil, c.name + "/every20": every20} {
			b.Run(name, func(b *testing.B) {
				benchEncode(b, func(dst *Rows) error { return c.encode(e, dst, c.rec, take) })
			})
		}
	}
}

// benchEncode encodes rows, over and over.
func benchEncode(b *testing.B, encode func(dst *Rows) error) {
	b.Helper()
	var rows Rows
	b.ReportAllocs()
	for b.Loop() {
		if err := encode(&rows); err != nil {
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

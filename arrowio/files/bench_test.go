package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// csvText is rows of ten columns: an integer, a word and eight numbers.
func csvText(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("id,word,a,b,c,d,e,f,g,h\n")
	r := rand.New(rand.NewPCG(1, 1))
	for i := range rows {
		fmt.Fprintf(&b, "%d,word%d", i, r.IntN(50))
		for range 8 {
			fmt.Fprintf(&b, ",%.6f", r.NormFloat64())
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func benchmarkRead(b *testing.B, path string, o Options) {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	rows := int64(0)
	for b.Loop() {
		r, err := Open(path, o)
		if err != nil {
			b.Fatal(err)
		}
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += rec.NumRows()
			rec.Release()
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRead reports MB/s of the file. "both passes" is what a user waits for without a schema;
// in "one pass" the types are given.
func BenchmarkRead(b *testing.B) {
	csv := csvText(50_000)
	rec := sampleRecord(b, memory.DefaultAllocator, 50_000)
	defer rec.Release()
	for _, c := range []struct{ name, path string }{
		{"csv", writeFile(b, "a.csv", csv)},
		{"csv.gz", writeFile(b, "a.csv.gz", zipped(b, csv))},
	} {
		b.Run(c.name+"/both passes", func(b *testing.B) { benchmarkRead(b, c.path, Options{}) })
		r, err := Open(c.path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		types := r.Schema()
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/one pass", func(b *testing.B) { benchmarkRead(b, c.path, Options{Schema: types}) })
	}
	for _, name := range binaryNames {
		path := written(b, name, rec)
		b.Run(name, func(b *testing.B) { benchmarkRead(b, path, Options{}) })
	}
}

func BenchmarkWrite(b *testing.B) {
	rec := sampleRecord(b, memory.DefaultAllocator, 20_000)
	defer rec.Release()
	for _, name := range []string{"a.arrow", "a.parquet", "a.csv"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				info, err := os.Stat(written(b, name, rec))
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(info.Size())
			}
		})
	}
}

// featureRecord is rows as written by transform: a label, the row's number and a vector of features.
func featureRecord(t testing.TB, rows, features int) arrow.Record {
	t.Helper()
	values := make([]float32, rows*features)
	for i := range values {
		values[i] = float32(math.Cos(float64(i)*1.618) / math.Sqrt(float64(features)))
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "features", Type: arrow.FixedSizeListOfNonNullable(int32(features), arrow.PrimitiveTypes.Float32)},
	}, nil)
	labels, numbers := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		labels.Append([]string{"no", "yes"}[i%2])
		numbers.Append(int64(i))
	}
	elements := array.NewData(arrow.PrimitiveTypes.Float32, len(values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(values))}, nil, 0, 0)
	vectors := array.NewData(schema.Field(2).Type, rows, []*memory.Buffer{nil}, []arrow.ArrayData{elements}, 0, 0)
	return array.NewRecord(schema, []arrow.Array{labels.NewArray(), numbers.NewArray(), array.NewFixedSizeListData(vectors)}, int64(rows))
}

// BenchmarkWriteFeatures reports MB/s of features, which are most of what transform writes.
func BenchmarkWriteFeatures(b *testing.B) {
	const rows, features = 20_000, 200
	rec := featureRecord(b, rows, features)
	defer rec.Release()
	var batches []arrow.Record
	for at := int64(0); at < rows; at += DefaultBatchRows {
		batches = append(batches, rec.NewSlice(at, min(rows, at+DefaultBatchRows)))
	}
	for _, name := range []string{"a.arrow", "a.parquet"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 * rows * features)
			for b.Loop() {
				written(b, name, batches...)
			}
		})
	}
}

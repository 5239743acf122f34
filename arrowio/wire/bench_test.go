package wire

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// The checkpoint of the design's example: 10 000 candidates, 10 outputs.
func BenchmarkCheckpoint(b *testing.B) {
	c := bigCheckpoint(10000, 10)
	value := must(EncodeCheckpoint(c))
	dec := newDecoder()
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			must(EncodeCheckpoint(c))
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			must(DecodeCheckpoint(dec, value))
		}
	})
}

// A message of features: 1000 rows of 500.
func BenchmarkFeatures(b *testing.B) {
	const rows, m = 1000, 500
	rec := array.NewRecord(arrow.NewSchema(nil, nil), nil, rows)
	numbers, z := ordinals(rows), make([]float32, rows*m)
	value := must(encodeFeatures(rec, numbers, z, m, "fs-1", nil))
	dec := newDecoder()
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			must(encodeFeatures(rec, numbers, z, m, "fs-1", nil))
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(value)))
		for b.Loop() {
			recs := must(dec.Decode(value))
			if _, _, err := DecodeFeatures(recs[0], m); err != nil {
				b.Fatal(err)
			}
			releaseAll(recs)
		}
	})
}

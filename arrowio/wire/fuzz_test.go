package wire

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// FuzzDecodeFeatures reads any message as features, and makes dead letters from its rows.
func FuzzDecodeFeatures(f *testing.F) {
	schema := exampleEvents()
	rows := []int32{0, 2}
	kept := must(GatherRows(sliceOf(schema), rows))
	f.Add(must(encodeFeatures(kept, rows, make([]float32, 6), 3, "fs-1", nil)))
	f.Add(must(EncodeRejectedRows(kept, rows, []string{"nan_feature", "inf_label"})))
	dec := newDecoder()
	f.Fuzz(func(t *testing.T, value []byte) {
		recs, err := dec.Decode(value)
		if err != nil {
			return
		}
		defer releaseAll(recs)
		for _, rec := range recs {
			row, z, err := DecodeFeatures(rec, 3)
			if err == nil && (len(z) != 3*len(row) || !finite(z)) {
				t.Fatalf("%d rows, %d features", len(row), len(z))
			}
			if _, err := ParseFeaturesInfo(rec.Schema()); err != nil && !errors.Is(err, ErrMalformed) &&
				!errors.Is(err, ErrFormatVersion) {
				t.Fatal(err)
			}
			fuzzRejected(t, rec)
		}
	})
}

// fuzzRejected makes a dead letter from the first rows of a record, which any decoder can read.
func fuzzRejected(t *testing.T, rec arrow.Record) {
	rows := ordinals(int(min(rec.NumRows(), 100)))
	gathered, err := GatherRows(sliceOf(rec), rows)
	if err != nil {
		t.Fatalf("rows of %v are not gathered: %v", rec.Schema(), err)
	}
	defer gathered.Release()
	deadLetter, err := EncodeRejectedRows(gathered, rows, make([]string, len(rows)))
	if errors.Is(err, ErrReservedColumn) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	recs, err := newDecoder().Decode(deadLetter)
	if err != nil || recs[0].NumRows() != int64(len(rows)) {
		t.Fatalf("a dead letter is refused: %v", err)
	}
	releaseAll(recs)
}

package wire

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// fuzzDecoder checks that a decoder handles any bytes and that what it accepts is stable.
func fuzzDecoder(f *testing.F, name string, seeds ...[]byte) {
	f.Add(decoders[name].value())
	for _, s := range seeds {
		f.Add(s)
	}
	dec := newDecoder()
	f.Fuzz(func(t *testing.T, value []byte) {
		if err := decoders[name].decode(dec, value); errors.Is(err, errUnstable) {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeSpec(f *testing.F) {
	fuzzDecoder(f, "spec", must(EncodeSpec(&Spec{Pipeline: "p", Status: StatusAbandoned})))
}

func FuzzDecodeRequest(f *testing.F) { fuzzDecoder(f, "request") }

func FuzzDecodeCheckpoint(f *testing.F) {
	empty := exampleCheckpoint()
	empty.Counts, empty.Sums, empty.Samples = Counts{}, exampleSums(2, 1, 0, nil), SampleMark{}
	fuzzDecoder(f, "checkpoint", must(EncodeCheckpoint(empty)))
}

func FuzzDecodeSamples(f *testing.F) { fuzzDecoder(f, "samples", samplesValue(exampleSamples(false))) }

func FuzzDecodeRefusal(f *testing.F) { fuzzDecoder(f, "refusal") }

func FuzzDecodeProgress(f *testing.F) { fuzzDecoder(f, "progress") }

func FuzzDecodeFeatureSet(f *testing.F) {
	fuzzDecoder(f, "feature set", must(EncodeFeatureSet(linearFeatureSet())), must(EncodeFeatureSet(learnedFeatureSet())))
}

func FuzzDecodeModel(f *testing.F) {
	fuzzDecoder(f, "model", must(EncodeModel(exampleChallenger())))
}

func FuzzDecodeCurrent(f *testing.F) {
	fuzzDecoder(f, "current", must(EncodeCurrent(exampleRollback())))
}

// FuzzDocuments replaces a message's metadata by any text, which fuzzing whole messages hardly ever
// reaches.
func FuzzDocuments(f *testing.F) {
	names := slices.Sorted(maps.Keys(decoders))
	values := map[string][]byte{}
	for i, name := range names {
		values[name] = decoders[name].value()
		recs := must(newDecoder().Decode(values[name]))
		meta := recs[0].Schema().Metadata().ToMap()
		f.Add(uint8(i), meta[decoders[name].key], meta[KeyEncoder])
		releaseAll(recs)
	}
	dec := newDecoder()
	f.Fuzz(func(t *testing.T, which uint8, doc, enc string) {
		name := names[int(which)%len(names)]
		value := rewrite(values[name], func(meta map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
			meta[decoders[name].key], meta[KeyEncoder] = doc, enc
			return f, c
		})
		if err := decoders[name].decode(dec, value); errors.Is(err, errUnstable) {
			t.Fatal(err)
		}
	})
}

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
			if _, err := ParseFeaturesInfo(rec.Schema()); err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrFormatVersion) {
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

package stages

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

func TestExploreFileGivesTheSetOfTheStream(t *testing.T) {
	for _, kind := range []struct {
		quota   int64
		sampler scoring.Sampler
		mix     []float64
	}{
		{quota: 0}, {quota: 150}, {quota: 150, mix: []float64{1, 2, 4}}, {quota: 150, sampler: scoring.Structured},
		{quota: 150, sampler: scoring.Orthogonal}, {quota: 150, sampler: scoring.Quasi},
	} {
		quota := kind.quota
		rows := events(t, taskClasses, 900, 20, someFaults)
		s := testSettings(taskClasses)
		s.Exploration.Sampler, s.Exploration.BandwidthMix = kind.sampler, kind.mix
		s.Exploration.Sigma, s.Exploration.SampleRows = 0, quota // the bandwidth rule has its part
		want := explore(t, s, []arrow.Record{rows}).Set
		if (want.Lineage.Partitions[0].CloseReason == wire.CloseQuota) != (quota > 0) {
			t.Fatalf("lineage %+v with a quota of %d", want.Lineage.Partitions, quota)
		}
		for name, size := range cuttings {
			t.Run(name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(5, 6))
				batches := cut(t, rows, size(rng))
				if got := explore(t, s, batches).Set; got.ID() != want.ID() {
					t.Fatalf("file in batches of %s: %s, want %s", name, got.ID(), want.ID())
				}
				// The same rows as messages: calibration on the first of them, then subsampling.
				c := NewCalibration(s.Events)
				defer c.Release()
				for _, batch := range batches {
					n := min(batch.NumRows(), s.Exploration.CalibrationRows-c.Rows())
					head := batch.NewSlice(0, n)
					if err := c.Add(0, c.Rows(), head); err != nil {
						t.Fatal(err)
					}
					head.Release()
				}
				found, err := c.Finish(s.Exploration)
				if err != nil {
					t.Fatal(err)
				}
				spec := newSpec(s, found, c.Rows(), 7, []wire.Partition{fullSpan(quota)})
				sub := newSubsampler(t, spec, spec.Partitions[0], nil)
				feed(t, sub, batches, rng)
				if got := selected(t, sub); got != want.ID() {
					t.Fatalf("messages of %s rows: %s, want %s", name, got, want.ID())
				}
			})
		}
	}
}

func TestExploreFileReportsWhatItDid(t *testing.T) {
	rows := events(t, taskBinary, 700, 21, someFaults)
	s := testSettings(taskBinary)
	found := explore(t, s, []arrow.Record{rows})
	if len(found.Values) != s.Exploration.CandidateCount() {
		t.Fatalf("%d criterion values of %d candidates", len(found.Values), s.Exploration.CandidateCount())
	}
	for i, index := range found.Set.Set.Index {
		if found.Values[index] != found.Set.Set.Score[i] {
			t.Fatalf("candidate %d: %v in the spectrum, %v in the set", index, found.Values[index], found.Set.Set.Score[i])
		}
	}
	if c := found.Set.Lineage.Counts; c.Rows != rows.NumRows() || !c.Reconciles() {
		t.Fatalf("counts %+v of %d rows", c, rows.NumRows())
	}
	if found.Report.Rows != s.Exploration.CalibrationRows || found.Set.Lineage.EventsTopic != "file" {
		t.Fatalf("%d calibration rows of %q", found.Report.Rows, found.Set.Lineage.EventsTopic)
	}
	for _, stage := range []string{StageCalibrate, StageSubsample, StageSelect} {
		if _, ok := found.Seconds[stage]; !ok {
			t.Errorf("no time for %s", stage)
		}
	}
}

func TestExploreFileSaysWhatIsWrong(t *testing.T) {
	fault := errors.New("disk on fire")
	rows := events(t, taskBinary, 50, 22, faults{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a table
		open func() (RowReader, error)
		want error
	}{
		{"no rows", t.Context(), file(nil), ErrNoCalibrationRows},
		{"cannot be opened", t.Context(), func() (RowReader, error) { return nil, fault }, fault},
		{"ends in an error", t.Context(), func() (RowReader, error) { return &brokenReader{rows, fault}, nil }, fault},
		{"stopped", ended, file([]arrow.Record{rows}), context.Canceled},
	} {
		if _, err := ExploreFile(c.ctx, testSettings(taskBinary), "file", c.open); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// brokenReader gives one batch, then an error.
type brokenReader struct {
	batch arrow.Record
	err   error
}

func (r *brokenReader) Next() (arrow.Record, error) {
	if r.batch == nil {
		return nil, r.err
	}
	batch := r.batch
	r.batch = nil
	batch.Retain()
	return batch, nil
}

func TestEachBatchStopsAtEOFOfTheCaller(t *testing.T) {
	batches := cut(t, events(t, taskBinary, 50, 23, faults{}), every(10))
	var seen []int64
	err := EachBatch(t.Context(), file(batches), func(number int64, _ arrow.Record) error {
		seen = append(seen, number)
		if number == 2 {
			return io.EOF
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, []int64{0, 1, 2}) {
		t.Fatalf("batches %v, error %v", seen, err)
	}
}

// collector is a RowWriter in memory.
type collector struct{ batches []arrow.Record }

func (c *collector) Write(batch arrow.Record) error {
	batch.Retain()
	c.batches = append(c.batches, batch)
	return nil
}

func TestTransformFile(t *testing.T) {
	rows := events(t, taskRegression, 500, 24, someFaults)
	set := explore(t, testSettings(taskRegression), []arrow.Record{rows}).Set
	schema := TransformSchema(set, rows.Schema())
	var out collector
	counts, err := TransformFile(t.Context(), set, file(cut(t, rows, every(70))), schema, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer releaseAll(out.batches)
	at := 0
	want := usableRows(set, rows)
	for _, batch := range out.batches {
		if !batch.Schema().Equal(schema) {
			t.Fatalf("schema %v, want %v", batch.Schema(), schema)
		}
		numbers := batch.Column(schema.FieldIndices(wire.ColumnRow)[0]).(*array.Int64)
		names := batch.Column(schema.FieldIndices("id")[0]).(*array.String)
		labels := batch.Column(schema.FieldIndices("y")[0]).(*array.Float64)
		z := batch.Column(schema.FieldIndices(wire.ColumnFeatures)[0]).(*array.FixedSizeList)
		m := set.Set.Features.Len()
		values := z.ListValues().(*array.Float32).Float32Values()
		for i := range int(batch.NumRows()) {
			row := int(numbers.Value(i))
			if row != want[at] || names.Value(i) != rows.Column(5).ValueStr(row) || labels.ValueStr(i) != rows.Column(6).ValueStr(row) {
				t.Fatalf("row %d, named %s, labelled %s: want row %d", row, names.Value(i), labels.ValueStr(i), want[at])
			}
			checkFeatures(t, set, rows, row, values[i*m:(i+1)*m])
			at++
		}
	}
	if at != len(want) || counts.Featurized != int64(at) || counts.Rows != 500 || counts.Rejected != int64(500-at) {
		t.Fatalf("%d rows out, counts %+v, want %d", at, counts, len(want))
	}
}

// usableRows are the rows that featurizing does not reject, by the reference.
func usableRows(set *wire.FeatureSet, rows arrow.Record) []int {
	var usable []int
	for i := range int(rows.NumRows()) {
		if encodeRow(set.Encoder, rows, i).finite {
			usable = append(usable, i)
		}
	}
	return usable
}

// checkFeatures compares the features of a row with their float64 reference: to 2e-5 of φ, or of the largest |φ| that
// the map can give where it has no bound.
func checkFeatures(t testing.TB, set *wire.FeatureSet, rows arrow.Record, row int, z []float32) {
	t.Helper()
	x := encodeRow(set.Encoder, rows, row).x
	features := set.Set.Features
	for i, got := range z {
		want := referencePhi(features, i, x)
		size := 1.0
		if features.Map != scoring.MapCosine {
			size = max(1, math.Abs(want))
		}
		if off := math.Abs(float64(got)/float64(set.Set.Scale) - want); !(off <= 2e-5*size) {
			t.Fatalf("row %d, feature %d: %v, want %v", row, i, float64(got)/float64(set.Set.Scale), want)
		}
	}
}

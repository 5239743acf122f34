package featurize

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// event is a message of partition 2 of events.
func event(t testing.TB, offset int64, batches ...arrow.Record) pipeline.Record {
	t.Helper()
	return pipeline.Record{
		Topic:     "events",
		Partition: 2,
		Offset:    offset,
		Time:      stagestest.Noon,
		Key:       []byte("customer"),
		Value:     stagestest.Message(t, batches...),
		Headers:   []pipeline.Header{{Key: "trace", Value: []byte("abc")}},
	}
}

// processed is the outcome of a message.
type processed struct {
	Outputs, DeadLetters []pipeline.Record
	Counts               meter.FeaturizeCounts
}

// process runs the featurizer and fails on an error.
func process(t testing.TB, f *Featurizer, r pipeline.Record, firstRow int32) processed {
	t.Helper()
	var all processed
	err := f.Process(r, firstRow, stagestest.Noon, func(part Part) error {
		if part.Output != nil {
			all.Outputs = append(all.Outputs, *part.Output)
		}
		if part.DeadLetter != nil {
			all.DeadLetters = append(all.DeadLetters, part.DeadLetter.Record)
		}
		meter.Add(&all.Counts, part.Counts)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFeaturizerValues(t *testing.T) {
	for _, m := range stagestest.FeatureMaps {
		t.Run(m.Name, func(t *testing.T) {
			rows := stagestest.Events(t, stagestest.Binary, 500, 40, stagestest.SomeFaults)
			config := explored.Exploration()
			config.Map, config.Distribution, config.Sigma = m.Map, m.Distribution, m.Sigma
			if m.Map == scoring.MapLinear {
				config.Candidates, config.Features = 6, 4
			}
			set := explored.FeatureSet(t, explored.Events(stagestest.Binary), config, rows)
			f := newCore(t, set, 1<<20)
			done := process(t, f, event(t, 9, rows), 0)
			out := explored.ReadFeatures(t, done.Outputs[0], set.Set.Features.Len())
			if len(done.Outputs) != 1 || !slices.Equal(toInts(out.Rows), stagestest.UsableRows(set, rows)) {
				t.Fatalf("%d outputs, rows %v", len(done.Outputs), out.Rows)
			}
			width := set.Set.Features.Len()
			for i, row := range out.Rows {
				stagestest.CheckFeatures(t, set, rows, int(row), out.Features[i*width:(i+1)*width])
				for _, name := range []string{"id", "y"} {
					got := out.Body.Column(out.Body.Schema().FieldIndices(name)[0]).ValueStr(i)
					if want := rows.Column(rows.Schema().FieldIndices(name)[0]).ValueStr(int(row)); got != want {
						t.Fatalf("row %d has %s %s, want %s", row, name, got, want)
					}
				}
			}
		})
	}
}

func toInts(rows []int32) []int {
	out := make([]int, len(rows))
	for i, r := range rows {
		out[i] = int(r)
	}
	return out
}

// Messages are cut at fixed rows, and the outputs cover every row once, for any batches and any
// length of passthrough columns.
func TestFeaturizerCutsAtFixedRows(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 220, 42, stagestest.Faults{BadFeature: 0.05})
	set := setOf(t, stagestest.Regression, rows)
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		maxBytes := rapid.SampledFrom([]int64{1, 3000, 5000, 12_000, 60_000}).Draw(rt, "max output bytes")
		longest := rapid.SampledFrom([]int{0, 3000}).Draw(rt, "longest passthrough")
		events := withLongNames(t, rows.NewSlice(0, int64(1+rng.IntN(int(rows.NumRows())))), longest, rng)
		batches := stagestest.Cut(t, events, stagestest.UpTo(rng, 150))
		source := event(t, 5, batches...)
		f := newCore(t, set, maxBytes)
		done := process(t, f, source, 0)
		starts := map[int32]bool{}
		for base, i := int32(0), 0; i < len(batches); i++ {
			starts[base] = true
			base += int32(batches[i].NumRows())
		}
		next := int32(0)
		for _, output := range done.Outputs {
			out := explored.ReadFeatures(t, output, 10)
			if out.FirstRow != next {
				rt.Fatalf("output begins at row %d, want %d", out.FirstRow, next)
			}
			next += out.RowCount
			if longest == 0 && out.FirstRow%f.set.partRows != 0 && !starts[out.FirstRow] {
				rt.Fatalf("cut at row %d, want multiples of %d or the beginning of a batch", out.FirstRow, f.set.partRows)
			}
			if int64(len(output.Value)) > maxBytes && out.RowCount > 1 {
				rt.Fatalf("%d rows in %d bytes, at most %d are wanted", out.RowCount, len(output.Value), maxBytes)
			}
		}
		if next != int32(events.NumRows()) {
			rt.Fatalf("outputs end at row %d of %d", next, events.NumRows())
		}
		again := process(t, newCore(t, set, maxBytes), source, 0)
		if !slices.EqualFunc(done.Outputs, again.Outputs,
			func(a, b pipeline.Record) bool { return string(a.Value) == string(b.Value) }) {
			rt.Fatal("a replay cuts differently")
		}

		// Starting at the end of an output yields the later outputs, split at the same places.
		after := 1 + rng.IntN(len(done.Outputs))
		if cut := explored.ReadFeatures(t, done.Outputs[after-1], 10); !cut.Last() {
			rest := process(t, f, source, cut.FirstRow+cut.RowCount)
			if !slices.EqualFunc(done.Outputs[after:], rest.Outputs,
				func(a, b pipeline.Record) bool { return string(a.Value) == string(b.Value) }) {
				rt.Fatalf("resumed after output %d, the message is cut differently", after)
			}
		}

		// Starting at any row gives exactly the missing rows.
		from := int32(rng.IntN(int(events.NumRows())))
		rest := process(t, f, source, from)
		var want, got []int32
		for _, output := range done.Outputs {
			for _, row := range explored.ReadFeatures(t, output, 10).Rows {
				if row >= from {
					want = append(want, row)
				}
			}
		}
		next = from
		for _, output := range rest.Outputs {
			out := explored.ReadFeatures(t, output, 10)
			if out.FirstRow != next {
				rt.Fatalf("resumed output begins at row %d, want %d", out.FirstRow, next)
			}
			next += out.RowCount
			got = append(got, out.Rows...)
		}
		if !slices.Equal(got, want) || next != int32(events.NumRows()) {
			rt.Fatalf("resumed at row %d: rows %v up to %d, want %v", from, got, next, want)
		}
		if c := rest.Counts; c.Rows != events.NumRows()-int64(from) || c.Featurized != int64(len(want)) ||
			c.Rejected != c.Rows-c.Featurized {
			rt.Fatalf("resumed at row %d of %d: counts %+v", from, events.NumRows(), c)
		}
	})
}

// withLongNames replaces the ids of events by texts of up to longest bytes; 0 leaves them. It
// releases the events.
func withLongNames(t testing.TB, events arrow.Record, longest int, rng *rand.Rand) arrow.Record {
	t.Helper()
	t.Cleanup(events.Release)
	if longest == 0 {
		return events
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for range events.NumRows() {
		b.Append(strings.Repeat("x", rng.IntN(longest)))
	}
	columns := slices.Clone(events.Columns())
	columns[5] = b.NewArray()
	defer columns[5].Release()
	long := array.NewRecord(events.Schema(), columns, events.NumRows())
	t.Cleanup(long.Release)
	return long
}

// A message without usable rows still has an output, so that a restart does not reread it.
func TestFeaturizerMarksMessagesWithoutUsableRows(t *testing.T) {
	good := stagestest.Events(t, stagestest.Regression, 400, 44, stagestest.Faults{})
	set := setOf(t, stagestest.Regression, good)
	bad := stagestest.Events(t, stagestest.Regression, 30, 44, stagestest.Faults{BadFeature: 1})
	done := process(t, newCore(t, set, 1<<20), event(t, 3, bad), 0)
	if len(done.Outputs) != 1 || len(done.DeadLetters) != 1 {
		t.Fatalf("%d outputs, %d dead letters", len(done.Outputs), len(done.DeadLetters))
	}
	if out := explored.ReadFeatures(t, done.Outputs[0], 10); len(out.Rows) != 0 || out.RowCount != 30 || !out.Last() {
		t.Fatalf("output %+v with rows %v", out.FeatureBatch, out.Rows)
	}
	if empty := process(t, newCore(t, set, 1<<20), event(t, 3, good.NewSlice(0, 0)),
		0); len(empty.Outputs)+len(empty.DeadLetters) != 0 {
		t.Fatalf("a message without rows gave %d outputs, %d dead letters", len(empty.Outputs), len(empty.DeadLetters))
	}
}

// Imputed values are counted by column, and so are fields unknown to the exploration, in every
// format.
func TestColumnsAreCounted(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 40, 7, stagestest.Faults{})
	fields := append(slices.Clone(rows.Schema().Fields()), arrow.Field{Name: "extra", Type: rows.Column(0).DataType()})
	more := array.NewRecord(arrow.NewSchema(fields, nil), append(slices.Clone(rows.Columns()), rows.Column(0)),
		rows.NumRows())
	const full = `{"a": 1, "b": 2, "color": "red", "ok": true, "v": [1, 2], "tip": 3}`
	k.send(pipeline.Record{
		Value: []byte(full + `{"a": 1, "color": "red", "ok": true, "v": [1, null], "tip": null}` + full),
	}, pipeline.Record{Value: stagestest.Message(t, more)})
	for k.part.NextOffset() < 2 {
		if err := k.step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	seen := k.runner.Env.Meter.Activity().Columns
	if len(seen.Imputed) != 2 || seen.FeatureSet != k.set.ID() {
		t.Fatalf("%+v", seen)
	}
	if b, v := seen.Imputed[0], seen.Imputed[1]; b.Column != "b" || b.Values != 43 || b.Imputed != 1 ||
		b.Now != 1.0/43 || v.Column != "v" || v.Values != 86 || v.Imputed != 1 {
		t.Errorf("%+v", seen.Imputed)
	}
	if want := []meter.NewField{
		{Field: "extra", Rows: 40, Now: 40.0 / 43},
		{Field: "tip", Rows: 2, Now: 2.0 / 43},
	}; !slices.Equal(seen.NewFields, want) {
		t.Errorf("new fields %v, want %v", seen.NewFields, want)
	}
	if news := k.runner.Env.Meter.AddColumns(meter.Columns{
		FeatureSet: k.set.ID(),
		Strays:     []encoder.ClassRows{{Class: "tip", Rows: 1}, {Class: "new", Rows: 1}},
	}); !slices.Equal(news, []string{"new"}) {
		t.Errorf("news %v", news)
	}
	// A column that begins to lack values is told from its past.
	for range 10 {
		k.runner.Env.Meter.AddColumns(meter.Columns{
			FeatureSet: k.set.ID(),
			Rows:       10_000,
			Imputed:    []meter.Imputed{{Column: "a", Values: 10_000}},
		})
	}
	for range 4 {
		k.runner.Env.Meter.AddColumns(meter.Columns{
			FeatureSet: k.set.ID(),
			Rows:       10_000,
			Imputed:    []meter.Imputed{{Column: "a", Values: 10_000, Imputed: 10_000}},
		})
	}
	if a := k.runner.Env.Meter.Activity().Columns.Imputed[0]; a.Column != "a" || a.Now < 0.7 || a.Share() > 0.3 {
		t.Errorf("%+v", a)
	}
	k.runner.Env.Meter.AddColumns(meter.Columns{FeatureSet: "next", Rows: 1})
	if seen := k.runner.Env.Meter.Activity().Columns; seen.FeatureSet != "next" ||
		len(seen.Imputed)+len(seen.NewFields) > 0 {
		t.Errorf("after a change of sets %+v", seen)
	}
}

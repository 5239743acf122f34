package pipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pairOf explores a set for a task and trains a model on it.
func pairOf(t testing.TB, task string) *featurize.Pair {
	t.Helper()
	rows := stagestest.Events(t, task, 1000, 5, stagestest.Faults{})
	set := explored.FeatureSet(t, explored.Events(task), explored.Exploration(), rows)
	model, _, err := offline.Fit(t.Context(), set, train.Default(), "rows", nil, explored.File(rows))
	if err != nil {
		t.Fatal(err)
	}
	return stagestest.Must(featurize.NewPair(set, model))
}

// stream returns batches as one stream.
func stream(t testing.TB, batches ...arrow.Record) []byte {
	t.Helper()
	return stagestest.Must(arrowio.EncodeStream(batches[0].Schema(), batches...))
}

// answers reads an output to its end.
func answers(t testing.TB, output io.Reader) (hello Hello, batches []arrow.Record) {
	t.Helper()
	r, err := ipc.NewReader(output)
	if err != nil {
		t.Fatal(err)
	}
	meta := r.Schema().Metadata()
	text, ok := meta.GetValue(HelloKey)
	if err := json.Unmarshal([]byte(text), &hello); !ok || err != nil {
		t.Fatalf("hello %q: %v", text, err)
	}
	for r.Next() {
		r.Record().Retain()
		batches = append(batches, r.Record())
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return hello, batches
}

// valuesOf returns the values of a row of a column; nil if it is null.
func valuesOf(column arrow.Array, row int) any {
	if column.IsNull(row) {
		return nil
	}
	switch column := column.(type) {
	case *array.Float64:
		return []float64{column.Value(row)}
	case *array.Dictionary:
		return column.Dictionary().(*array.String).Value(column.GetValueIndex(row))
	case *array.FixedSizeList:
		first, next := column.ValueOffsets(row)
		return column.ListValues().(*array.Float32).Float32Values()[first:next]
	}
	panic(column.DataType())
}

// expected returns the same values of a mapping.
func expected(pair *featurize.Pair, made *featurize.Mapped, name string, row int) any {
	i, ok := slices.BinarySearch(made.Row, int32(row))
	switch {
	case !ok:
		return nil
	case name == "features":
		return made.Features[i*pair.Features() : (i+1)*pair.Features()]
	case name == "probabilities":
		n := len(pair.Classes())
		return made.Probabilities[i*n : (i+1)*n]
	case pair.Classes() != nil:
		return pair.Classes()[made.Class[i]]
	}
	return made.Prediction[i : i+1]
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case []float32:
		b, ok := b.([]float32)
		return ok && slices.Equal(a, b)
	case []float64:
		b, ok := b.([]float64)
		return ok && slices.Equal(a, b)
	}
	return a == b
}

func TestAnswersAreThoseOfTheStageAndAlignedWithTheRows(t *testing.T) {
	for _, task := range []string{stagestest.Regression, stagestest.Binary, stagestest.Classes} {
		pair := pairOf(t, task)
		good := stagestest.Events(t, task, 300, 8, stagestest.Faults{})
		bad := stagestest.Events(t, task, 2000, 9, stagestest.SomeFaults)
		batches := []arrow.Record{good, bad, bad.NewSlice(5, 5), bad.NewSlice(7, 8), good}
		input := slices.Concat(stream(t, batches[:2]...), stream(t, batches[2:]...))
		for _, o := range []Options{
			{Threads: 1},
			{Threads: 3},
			{Threads: 1, Features: true},
			{Threads: 3, Features: true},
		} {
			o.Pair = pair
			o.Version = "v1"
			var out bytes.Buffer
			if err := Answer(bytes.NewReader(input), &out, o); err != nil {
				t.Fatal(err)
			}
			hello, got := answers(t, &out)
			if hello.FeatureSet != pair.SetID() || hello.Model != pair.ModelID() || hello.Version != "v1" ||
				hello.Arithmetic != scoring.Arithmetic() || hello.Features != pair.Features() {
				t.Errorf("%s: hello %+v", task, hello)
			}
			if len(got) != 1+len(batches) || got[0].NumRows() != 0 {
				t.Fatalf("%s: %d batches, the first of %d rows", task, len(got), got[0].NumRows())
			}
			checkAnswers(t, pair, batches, got[1:])
		}
	}
}

// checkAnswers compares answers with a mapper's.
func checkAnswers(t *testing.T, pair *featurize.Pair, batches, got []arrow.Record) {
	t.Helper()
	mapper, nulls := pair.NewMapper(), 0
	for i, batch := range batches {
		if got[i].NumRows() != batch.NumRows() {
			t.Fatalf("batch %d: %d answers to %d rows", i, got[i].NumRows(), batch.NumRows())
		}
		made := stagestest.Must(mapper.Map([]arrow.Record{batch}, true, func() error { return nil }))
		nulls += len(made.Rejected)
		for c, field := range got[i].Schema().Fields() {
			for row := range int(batch.NumRows()) {
				if have, want := valuesOf(got[i].Column(c), row), expected(pair, made, field.Name, row); !equal(have, want) {
					t.Fatalf("batch %d, row %d, %s: %v, want %v", i, row, field.Name, have, want)
				}
			}
		}
	}
	if nulls == 0 {
		t.Error("no row was rejected")
	}
}

func TestEachBatchIsAnsweredBeforeTheNext(t *testing.T) {
	pair := pairOf(t, stagestest.Binary)
	rows := stagestest.Events(t, stagestest.Binary, 40, 8, stagestest.Faults{})
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := Answer(inRead, outWrite, Options{Pair: pair, Threads: 1})
		outWrite.CloseWithError(err)
		done <- err
	}()
	r := stagestest.Must(ipc.NewReader(outRead)) // before any input
	if !r.Next() {
		t.Fatal(r.Err())
	}
	w := ipc.NewWriter(inWrite, ipc.WithSchema(rows.Schema()))
	for range 3 {
		if err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if !r.Next() || r.Record().NumRows() != rows.NumRows() {
			t.Fatal(r.Err())
		}
	}
	if err := errors.Join(w.Close(), inWrite.Close()); err != nil {
		t.Fatal(err)
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("after the end: %v", r.Err())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestBadInputIsAnError(t *testing.T) {
	pair := pairOf(t, stagestest.Binary)
	rows := stagestest.Events(t, stagestest.Binary, 40, 8, stagestest.Faults{})
	whole := stream(t, rows)
	damaged := bytes.Clone(whole)
	for i := len(damaged) / 2; i < len(damaged)-8; i++ {
		damaged[i] = 0xff
	}
	a := newAnswerer(Options{Pair: pair, Features: true})
	for name, tt := range map[string]struct {
		input []byte
		says  string
	}{
		"text":           {[]byte("age,city\n"), "not an arrow stream"},
		"cut off":        {whole[:len(whole)-40], "batch 0: arrow message 1: truncated"},
		"nothing":        {nil, ""},
		"damaged":        {damaged, "batch 0"},
		"second batch":   {slices.Concat(whole, whole[:200]), "batch 1"},
		"missing column": {stream(t, without(rows, 0)), "missing"},
		"too many rows":  {stream(t, manyRows(t, rows, a.limits.MaxRows+1)), "too large"},
	} {
		err := Answer(bytes.NewReader(tt.input), io.Discard, Options{Pair: pair, Features: true})
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
	bare := stagestest.Must(featurize.NewPair(pair.Set, nil))
	if err := Answer(bytes.NewReader(whole), io.Discard, Options{Pair: bare}); err == nil {
		t.Error("predictions without a model")
	}
}

// without returns the record without a column.
func without(rec arrow.Record, column int) arrow.Record {
	fields, columns := slices.Clone(rec.Schema().Fields()), slices.Clone(rec.Columns())
	return array.NewRecord(arrow.NewSchema(slices.Delete(fields, column, column+1), nil),
		slices.Delete(columns, column, column+1), rec.NumRows())
}

// manyRows repeats rows.
func manyRows(t testing.TB, rec arrow.Record, n int) arrow.Record {
	t.Helper()
	columns := make([]arrow.Array, rec.NumCols())
	for i, column := range rec.Columns() {
		parts := slices.Repeat([]arrow.Array{column}, n/column.Len()+1)
		whole := stagestest.Must(array.Concatenate(parts, memory.DefaultAllocator))
		columns[i] = array.NewSlice(whole, 0, int64(n))
	}
	return array.NewRecord(rec.Schema(), columns, int64(n))
}

// brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestClosedOutputEndsIt(t *testing.T) {
	pair := pairOf(t, stagestest.Binary)
	rows := stagestest.Events(t, stagestest.Binary, 400, 8, stagestest.Faults{})
	for _, left := range []int{0, 2000, 5000} {
		input := bytes.NewReader(bytes.Repeat(stream(t, rows), 50))
		err := Answer(input, &brokenWriter{left}, Options{Pair: pair})
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
}

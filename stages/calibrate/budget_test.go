package calibrate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Calibration keeps the rows with the lowest hashes that fit the budget, however the rows are split
// into messages and whichever column is large.
func TestCalibrationKeepsWithinItsBudget(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.CalibrationRows = 1000
	rows := stagestest.Events(t, stagestest.Regression, 110, 303, stagestest.SomeFaults)
	rng := rand.New(rand.NewPCG(1, 2))
	plainText := array.NewStringBuilder(memory.DefaultAllocator)
	dictionary := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{
		IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String,
	}).(*array.BinaryDictionaryBuilder)
	defer plainText.Release()
	defer dictionary.Release()
	for i := range 110 {
		text := strings.Repeat("x", 900_000) + fmt.Sprint(i%5)
		plainText.Append(text[rng.IntN(200_000):])
		if err := dictionary.AppendString(text[i%3*100_000:]); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range []arrow.Array{plainText.NewArray(), dictionary.NewArray()} {
		defer column.Release()
		wide := withColumn(t, rows, "text", column)
		var want *wire.Spec
		for _, size := range []int{110, 7, 1} {
			batches := stagestest.Cut(t, wide, stagestest.Every(size))
			c := newKeptRows(s.Events, s.Exploration.Seed, 0, 1000, calibrationShare(1))
			for _, batch := range batches {
				if err := c.add(batch); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.settle(); err != nil {
				t.Fatal(err)
			}
			bytes, rows := 0, c.shapes[0].count
			for _, rec := range c.shapes[0].variants[0].pieces {
				bytes += keptBytes(rec)
			}
			highest := uint64(0) // of the kept rows
			for _, row := range c.shapes[0].variants[0].entries {
				highest = max(highest, row.hash)
			}
			c.release()
			if !c.over || c.shapes[0].full || bytes < 50<<20 || bytes > 70<<20 || highest >= c.shapes[0].bound {
				t.Fatalf("messages of %d: %d bytes of %d rows, over %v", size, bytes, rows, c.over)
			}
			got, err := fileOf(s, batches)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got.Spec
			}
			if got.Spec.CalibrationRows != int64(rows) || !reflect.DeepEqual(got.Spec.Encoder, want.Encoder) {
				t.Errorf("messages of %d: %d rows from the log, %d from the file", size, rows, got.Spec.CalibrationRows)
			}
			if n := len(got.Report.Warnings); n == 0 || !strings.Contains(got.Report.Warnings[n-1], "memory bound") {
				t.Errorf("warnings %q", got.Report.Warnings)
			}
		}
	}
	if a, b := calibrationShare(4), calibrationShare(1000); a != 16<<20 || b != 1<<20 {
		t.Errorf("shares %d and %d", a, b)
	}
}

// The kept rows have the lowest hashes, whatever their order and messages, and a refused message
// leaves no rows behind.
func TestKeptRowsHaveTheLowestHashes(t *testing.T) {
	s := testSettings(stagestest.Regression)
	const rows, wanted = 3000, 200
	batch := stray(t, "z", rows, true)
	hasher := scoring.NewHasher(5^scoring.CalibrationTag, 3)
	var hashes []uint64
	for i := range int64(rows) {
		hashes = append(hashes, hasher.Row(i))
	}
	want := slices.Clone(hashes)
	slices.Sort(want)
	want = want[:wanted]
	check := func(name string, kept []uint64, values func(i int) float64) {
		if len(kept) != wanted {
			t.Fatalf("%s: %d rows", name, len(kept))
		}
		for i, hash := range kept {
			if row := slices.Index(hashes, hash); row < 0 || values(i) != float64(row) {
				t.Fatalf("%s: row %v has the hash of row %d", name, values(i), row)
			}
		}
		if slices.Sort(kept); !slices.Equal(kept, want) {
			t.Errorf("%s: the kept rows do not have the lowest hashes", name)
		}
	}
	for _, size := range []int{1, 7, 1000, rows} {
		c := newKeptRows(s.Events, 5, 3, wanted, 1<<20)
		for _, part := range stagestest.Cut(t, batch, stagestest.Every(size)) {
			if err := c.add(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.settle(); err != nil {
			t.Fatal(err)
		}
		v := c.shapes[0].variants[0]
		var kept []uint64
		for _, row := range v.entries {
			kept = append(kept, row.hash)
		}
		check(fmt.Sprint("messages of ", size), kept, func(i int) float64 {
			for _, piece := range v.pieces {
				if i < int(piece.NumRows()) {
					return piece.Column(0).(*array.Float64).Value(i)
				}
				i -= int(piece.NumRows())
			}
			return -1
		})
		c.release()

		text := newKeptRows(s.Events, 5, 3, wanted, 1<<20)
		for i := range rows {
			if i%size == 0 { // a refused message, and the end of an accepted one
				text.acceptText()
				text.addText([]byte("refused"))
				text.refuseText()
			}
			text.addText(fmt.Appendf(nil, "%d", i))
		}
		text.acceptText()
		if err := text.settle(); err != nil {
			t.Fatal(err)
		}
		kept = nil
		for _, row := range text.text.rows {
			kept = append(kept, row.hash)
		}
		check(fmt.Sprint("text of ", size), kept, func(i int) float64 {
			v, err := strconv.ParseFloat(string(text.text.at(i)), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		})
	}
}

// Shapes from which no encoder can be learned keep one row. A row that fits the share is kept, even
// alone.
func TestCalibrationOfStraysIsBounded(t *testing.T) {
	s := testSettings(stagestest.Regression)
	c := newKeptRows(s.Events, 1, 0, 10, 1000)
	defer c.release()
	z := stray(t, "z", 30, false)
	for range 10 {
		if err := c.add(z); err != nil {
			t.Fatal(err)
		}
	}
	if shape := c.shapes[0]; shape.rows != 300 || events.CountRows(shape.variants[0].pieces) != 1 {
		t.Errorf("%d rows seen, %d kept", shape.rows, events.CountRows(shape.variants[0].pieces))
	}
	one := newKeptRows(s.Events, 1, 0, 10, 24)
	defer one.release()
	err := errors.Join(one.add(stray(t, "z", 5, true)), one.settle())
	if err != nil || events.CountRows(one.shapes[0].variants[0].pieces) != 1 || !one.over {
		t.Errorf("%v: %d rows, over %v", err, one.shapes[0].count, one.over)
	}
}

// The memory that a partition holds matches its charge: for huge rows, for shapes with many unread
// columns, and for rows of one shape that differ in other columns.
func TestCalibrationHoldsItsShare(t *testing.T) {
	const share, columns = 1 << 20, 1000
	unread := arrow.ListOf(arrow.PrimitiveTypes.Float64)
	wide := func(number int, read string) arrow.Record {
		fields, arrays := []arrow.Field{
			{Name: read, Type: arrow.PrimitiveTypes.Float64},
			{Name: "y", Type: arrow.PrimitiveTypes.Float64},
		}, []arrow.Array{}
		for range fields {
			b := array.NewFloat64Builder(memory.DefaultAllocator)
			b.Append(1)
			arrays = append(arrays, b.NewArray())
		}
		for i := range columns {
			fields, arrays = append(
				fields,
				arrow.Field{Name: fmt.Sprintf("%d of %d", i, number), Type: unread},
			), append(
				arrays,
				array.MakeArrayOfNull(memory.DefaultAllocator, unread, 1),
			)
		}
		return array.NewRecord(arrow.NewSchema(fields, nil), arrays, 1)
	}
	text := func(bytes int) arrow.Record {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		b.Append(strings.Repeat("x", bytes))
		return array.NewRecord(
			arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String}}, nil),
			[]arrow.Array{b.NewArray()},
			1,
		)
	}
	for name, add := range map[string]func(c *keptRows, i int) error{
		"huge rows":           func(c *keptRows, _ int) error { return c.add(text(8 << 20)) },
		"huge rows of JSON":   func(c *keptRows, _ int) error { c.addText(make([]byte, 8<<20)); c.acceptText(); return nil },
		"a huge name":         func(c *keptRows, _ int) error { return c.add(wide(0, strings.Repeat("n", 8<<20))) },
		"shapes":              func(c *keptRows, i int) error { return c.add(wide(0, fmt.Sprint("x", i))) },
		"rows of other shape": func(c *keptRows, i int) error { return c.add(wide(i, "x")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := testSettings(stagestest.Regression)
			before := liveHeap()
			c := newKeptRows(s.Events, 1, 0, 10_000, share)
			for i := range 60 {
				if err := add(c, i); err != nil {
					t.Fatal(err)
				}
			}
			if held := liveHeap() - before; held > 2*share {
				t.Errorf("%d bytes held with a share of %d, %d shapes", held, share, len(c.shapes))
			}
			c.release()
		})
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Rows of JSON that each have their own columns are surveyed within bounds, and their common
// columns are still found.
func TestASurveyOfManyColumnsIsBounded(t *testing.T) {
	const rows, each, most = 400, 1000, 1000
	limits := arrowio.DefaultLimits()
	limits.MaxColumns = most
	survey := formats.NewSurvey(limits, func(name string) bool { return name == "named" })
	before := liveHeap()
	for row := range rows {
		text := []byte(`{"common":2`)
		if row == 0 {
			text = append(text, `,"named":1`...)
		}
		for i := range each - 2 {
			text = fmt.Appendf(text, `,"%d_%d":0`, row, i)
		}
		if err := survey.Add(append(text, '}')); err != nil {
			t.Fatal(err)
		}
	}
	held := liveHeap() - before
	columns, others := survey.Columns(rows / 100)
	if held > 4<<20 || len(columns) != 2 || others.Count < rows*(each-3) {
		t.Errorf("%d bytes held, columns %+v, %d others", held, columns, others.Count)
	}
	if shared := survey.Rows(); shared != rows {
		t.Errorf("%d rows", shared)
	}
}

package calibrate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Calibration stops at the budget, at the same row however the rows are cut and whichever column is
// large.
func TestCalibrationStopsAtItsBudget(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.CalibrationRows = 1000
	rows := stagestest.Events(t, stagestest.Regression, 110, 303, stagestest.SomeFaults)
	rng := rand.New(rand.NewPCG(1, 2))
	plainText := array.NewStringBuilder(memory.DefaultAllocator)
	dictionary := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
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
		var wantRows int64
		for _, size := range []int{110, 7} {
			batches := stagestest.Cut(t, wide, stagestest.Every(size))
			c := newFirstRows(s.Events, 1000, calibrationShare(1))
			for _, batch := range batches {
				if err := c.add(batch); err != nil {
					t.Fatal(err)
				}
			}
			bytes := 0
			for _, rec := range c.shapes[0].kept {
				bytes += keptBytes(rec)
			}
			rows := c.shapes[0].rows
			c.release()
			if !c.overBudget() || c.filled || bytes < 50<<20 || bytes > 70<<20 {
				t.Fatalf("messages of %d: %d bytes of %d rows, full %v", size, bytes, rows, c.overBudget())
			}
			got, err := fileOf(s, batches)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, wantRows = got.Spec, rows
			}
			if rows != wantRows || got.Spec.CalibrationRows != wantRows || !reflect.DeepEqual(got.Spec.Encoder, want.Encoder) {
				t.Errorf("messages of %d: %d rows from the log, %d from the file, want %d", size, rows, got.Spec.CalibrationRows, wantRows)
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

// A partition of strays is not read forever: they count against the budget. One row beyond it is still
// used.
func TestCalibrationOfStraysIsBounded(t *testing.T) {
	s := testSettings(stagestest.Regression)
	c := newFirstRows(s.Events, 10, 1000)
	defer c.release()
	z := stray(t, "z", 30, false)
	read := int64(0)
	for ; !c.enough(); read += 30 {
		if err := c.add(z); err != nil {
			t.Fatal(err)
		}
	}
	if read != 90 || c.shapes[0].rows != 63 || events.CountRows(c.shapes[0].kept) != 1 { // 16 bytes a row
		t.Errorf("%d rows read, %d counted, %d kept", read, c.shapes[0].rows, events.CountRows(c.shapes[0].kept))
	}
	one := newFirstRows(s.Events, 10, 24)
	defer one.release()
	if err := one.add(stray(t, "z", 5, true)); err != nil || events.CountRows(one.shapes[0].kept) != 1 || !one.overBudget() {
		t.Errorf("%v: %d rows", err, one.shapes[0].rows)
	}
}

// What a partition keeps of its rows is what it is charged: of huge rows, of shapes with many columns that nothing reads, and
// of rows of one shape whose other columns differ.
func TestCalibrationHoldsItsShare(t *testing.T) {
	const share, columns = 1 << 20, 1000
	unread := arrow.ListOf(arrow.PrimitiveTypes.Float64)
	wide := func(number int, read string) arrow.Record {
		fields, arrays := []arrow.Field{{Name: read, Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}, []arrow.Array{}
		for range fields {
			b := array.NewFloat64Builder(memory.DefaultAllocator)
			b.Append(1)
			arrays = append(arrays, b.NewArray())
		}
		for i := range columns {
			fields, arrays = append(fields, arrow.Field{Name: fmt.Sprintf("%d of %d", i, number), Type: unread}), append(arrays, array.MakeArrayOfNull(memory.DefaultAllocator, unread, 1))
		}
		return array.NewRecord(arrow.NewSchema(fields, nil), arrays, 1)
	}
	text := func(bytes int) arrow.Record {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		b.Append(strings.Repeat("x", bytes))
		return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{b.NewArray()}, 1)
	}
	for name, add := range map[string]func(c *firstRows, i int) error{
		"huge rows":           func(c *firstRows, _ int) error { return c.add(text(8 << 20)) },
		"huge rows of JSON":   func(c *firstRows, _ int) error { c.addText(make([]byte, 8<<20)); return nil },
		"a huge name":         func(c *firstRows, _ int) error { return c.add(wide(0, strings.Repeat("n", 8<<20))) },
		"shapes":              func(c *firstRows, i int) error { return c.add(wide(0, fmt.Sprint("x", i))) },
		"rows of other shape": func(c *firstRows, i int) error { return c.add(wide(i, "x")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := testSettings(stagestest.Regression)
			before := liveHeap()
			c := newFirstRows(s.Events, 10_000, share)
			for i := range 60 {
				if err := add(c, i); err != nil {
					t.Fatal(err)
				}
			}
			if held := liveHeap() - before; held > 2*share {
				t.Errorf("%d bytes are held of a share of %d, %d shapes", held, share, len(c.shapes))
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

// Rows of JSON with columns of their own each are surveyed within bounds, and what is common among them is still found.
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

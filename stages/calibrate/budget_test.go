package calibrate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Calibration stops at the budget, at the same row however the rows are cut and whichever column is
// large.
func TestCalibrationStopsAtItsBudget(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.CalibrationRows = 1000
	rows := stagestest.Events(t, stagestest.Regression, 300, 303, stagestest.SomeFaults)
	rng := rand.New(rand.NewPCG(1, 2))
	plainText := array.NewStringBuilder(memory.DefaultAllocator)
	dictionary := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	defer plainText.Release()
	defer dictionary.Release()
	for i := range 300 {
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
		for _, size := range []int{300, 7} {
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
	one := newFirstRows(s.Events, 10, 1)
	defer one.release()
	if err := one.add(stray(t, "z", 5, true)); err != nil || events.CountRows(one.shapes[0].kept) != 1 || !one.overBudget() {
		t.Errorf("%v: %d rows", err, one.shapes[0].rows)
	}
}

package deadletter

import (
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Rejected rows become dead letters even if their event has columns with the names that dead
// letters add.
func TestRejectedRows(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 12, 8, stagestest.SomeFaults)
	fields := slices.Clone(rows.Schema().Fields())
	for i, name := range []string{"same", "same", wire.ColumnRejectedRow, wire.ColumnRejectedReason, wire.ColumnFeatures} {
		fields[i].Name = name
	}
	rec := stagestest.WithSchema(rows, fields)
	defer rec.Release()
	source := pipeline.Record{
		Topic:     "events",
		Partition: 3,
		Offset:    77,
		Key:       []byte("k"),
		Headers:   []pipeline.Header{{Key: "h", Value: []byte("v")}},
	}
	rejected := []RejectedRow{
		{Row: 2, Reason: "nan_feature"},
		{Row: 3, Reason: "inf_label"},
		{Row: 11, Reason: "nan_label"},
	}
	budget := arrowio.NewBudget(64 << 10)
	deadLetter, err := Rejected(meter.StageSubsample, source, rec, 100, rejected, &budget, stagestest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	body := stagestest.Decode(t, deadLetter.Value)[0]
	numbers := body.Column(slices.Max(body.Schema().FieldIndices(wire.ColumnRejectedRow))).(*array.Int32).Int32Values()
	if !slices.Equal(numbers, []int32{102, 103, 111}) {
		t.Fatalf("rows %v", numbers)
	}
	reasons := body.Column(body.Schema().FieldIndices(wire.ColumnRejectedReason)[0]).(*array.String)
	if reasons.Value(0) != "nan_feature" || reasons.Value(1) != "inf_label" || reasons.Value(2) != "nan_label" {
		t.Fatalf("reasons %v", reasons)
	}
	if got := body.Column(body.Schema().FieldIndices("id")[0]).ValueStr(2); got != "row-11" {
		t.Fatalf("the row's values are lost: %s", got)
	}
	parsed, err := wire.ParseDeadLetterHeaders(deadLetter.Headers)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.DeadLetter{
		Stage:     string(meter.StageSubsample),
		Reason:    "nan_feature",
		Detail:    parsed.Detail,
		Topic:     "events",
		Partition: 3,
		Offset:    77,
		Time:      stagestest.Noon,
		Rows:      3,
	}
	if cause := (meter.Cause{Stage: meter.Stage(want.Stage), Reason: want.Reason}); deadLetter.Cause != cause {
		t.Errorf("cause %+v, want %+v", deadLetter.Cause, cause)
	}
	if parsed != want || string(deadLetter.Key) != "k" || stagestest.Header(t, deadLetter.Record, "h") != "v" {
		t.Fatalf("headers %+v, want %+v", parsed, want)
	}
	budget.Left = 500 // too little for the rows
	bare, err := Rejected(meter.StageSubsample, source, rec, 100, rejected, &budget, stagestest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := wire.ParseDeadLetterHeaders(bare.Headers); err != nil || got != want || !isBare(bare.Record) ||
		budget.Left != 500 {
		t.Errorf("without memory: %+v, %v, bare %v", got, err, isBare(bare.Record))
	}
}

// Without a budget for its rows, a dead letter takes little memory for any number of them.
func TestBareDeadLetterTakesLittleMemory(t *testing.T) {
	rec := stagestest.Events(t, stagestest.Regression, 12, 8, stagestest.SomeFaults)
	rejected := make([]RejectedRow, 100_000)
	for i := range rejected {
		rejected[i].Reason = "nan_label"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	letter, err := Rejected(meter.StageSubsample, pipeline.Record{}, rec, 0, rejected, &arrowio.Budget{}, stagestest.Noon)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; err != nil || !isBare(letter.Record) || taken > 64<<10 {
		t.Errorf("%d bytes taken, %v", taken, err)
	}
}

package featurize

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// A message of few bytes may have a million rows. Their features are never all in memory.
func TestFeaturizeRequestsAreBounded(t *testing.T) {
	const maxOutput = 100_000
	for _, c := range []struct {
		name  string
		value []byte
		rows  int64
	}{
		{"nulls", nulls(t, 1<<20), 1 << 20},
		{"small messages", nulls(t, 60), 90 * 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKit(t, maxOutput, 0, 0)
			k.runner.Amplification = math.MaxInt32
			k.forget = true
			requests := 0
			k.produced = func(_ string, records []pipeline.Record) {
				requests++
				if size := sizes(records); size > maxOutput && len(records) > 1 || size > maxOutput+1000 { // key and headers
					t.Errorf("%d records of %d bytes in a request", len(records), size)
				}
			}
			if len(c.value) > 4096 {
				t.Fatalf("a message of %d bytes", len(c.value))
			}
			messages := int(c.rows / events.CountRows(stagestest.Decode(t, c.value)))
			for range messages {
				k.send(pipeline.Record{Value: c.value})
			}
			if err := k.step(); err != nil {
				t.Fatal(err)
			}
			if got := k.runner.Env.Meter.Totals().Featurize; got.Rows != c.rows || got.Featurized != c.rows ||
				got.Messages != int64(messages) {
				t.Errorf("counts %+v", got)
			}
			if requests < 2 || k.part.next != int64(messages) || k.committed != int64(messages) {
				t.Errorf("%d requests, next offset %d, committed %d", requests, k.part.next, k.committed)
			}
		})
	}
}

// Empty records become dead letters that take a kilobyte of memory each.
func TestFeaturizeDeadLettersOfEmptyMessagesAreBounded(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	const messages = 20_000
	fetched := pipeline.Fetched{NextOffset: messages, End: messages}
	for offset := range int64(messages) {
		fetched.Records = append(fetched.Records,
			pipeline.Record{Topic: k.runner.Env.Topics.Events, Partition: 2, Offset: offset, Value: []byte{}})
	}
	var sent, requests int
	k.produced = func(_ string, records []pipeline.Record) {
		memory := 0
		for i := range records {
			memory += records[i].Memory()
		}
		if memory > deadletter.PendingBytes {
			t.Errorf("%d dead letters take %d bytes", len(records), memory)
		}
		sent, requests = sent+len(records), requests+1
	}
	if err := k.part.Process(t.Context(), fetched); err != nil {
		t.Fatal(err)
	}
	if sent != messages || requests < 3 {
		t.Errorf("%d dead letters in %d requests", sent, requests)
	}
}

// The record time of a features message is the time of its writing, not of the event: brokers
// refuse future times, and retention uses the record time.
func TestFeaturesCarryTheTimeOfTheirEvent(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{BadFeature: 3})
	f := newCore(t, setOf(t, stagestest.Regression,
		stagestest.Events(t, stagestest.Regression, 400, 41, stagestest.Faults{})), 1<<20)
	for name, c := range map[string]struct{ carried, want time.Time }{
		"in a year":         {stagestest.Noon.AddDate(1, 0, 0), stagestest.Noon}, // not later than its features
		"ten years ago":     {stagestest.Noon.AddDate(-10, 0, 0), stagestest.Noon.AddDate(-10, 0, 0)},
		"none":              {time.Time{}, stagestest.Noon},
		"before the header": {stagestest.Noon.AddDate(0, 0, -1), stagestest.Noon.AddDate(0, 0, -1)},
	} {
		source := event(t, 7, rows)
		if source.Time = c.carried; name == "before the header" { // a replayed dead letter
			h := wire.EventTimeHeader(c.carried)
			source.Time, source.Headers = stagestest.Noon, append(source.Headers, pipeline.Header{Key: h.Key, Value: h.Value})
		}
		got := process(t, f, source, 0)
		for _, r := range append(got.Outputs, got.DeadLetters...) {
			if !r.Time.Equal(stagestest.Noon) || !meter.EventTime(&r).Equal(c.want) {
				t.Errorf("%s: stamped %v, event of %v", name, r.Time, meter.EventTime(&r))
			}
		}
		if len(got.Outputs) != 1 || len(got.DeadLetters) != 1 {
			t.Errorf("%s: %d outputs, %d dead letters", name, len(got.Outputs), len(got.DeadLetters))
		}
	}
}

// A message of a few hundred bytes that claims a million rows is refused; many small ones are not.
func TestFeaturizeRefusesAmplification(t *testing.T) {
	k := newKit(t, 100_000, 0, 0)
	k.runner.Amplification = 10
	k.restart()
	k.send(pipeline.Record{Value: nulls(t, 1<<20)}, pipeline.Record{Value: nulls(t, 1000)}, longDictionary(t, k, 40_000))
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	letters := k.deadLetters()
	if len(letters) != 2 {
		t.Fatalf("%d dead letters", len(letters))
	}
	for i, offset := range []string{"0", "2"} {
		reason, at := stagestest.Header(t, letters[i],
			wire.HeaderErrorReason), stagestest.Header(t, letters[i], wire.HeaderErrorOffset)
		if reason != deadletter.ReasonAmplification || at != offset {
			t.Errorf("a dead letter of offset %s for %s", at, reason)
		}
	}
	if c := k.runner.Env.Meter.Totals().Featurize; c.Messages != 3 || c.Undecodable != 2 || c.Rows != 1000 {
		t.Errorf("counts %+v", c)
	}
}

// longDictionary is a message in which each row refers to the same long string of a passthrough
// column.
func longDictionary(t *testing.T, k *kit, rows int) pipeline.Record {
	t.Helper()
	batch := stagestest.Events(t, stagestest.Regression, rows, 44, stagestest.Faults{})
	passthrough := k.set.Encoder.Passthrough[0]
	index := array.NewInt8Builder(memory.DefaultAllocator)
	index.AppendValues(make([]int8, rows), nil)
	entry := array.NewStringBuilder(memory.DefaultAllocator)
	entry.Append(strings.Repeat("long ", 1<<17))
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	column := array.NewDictionaryArray(of, index.NewArray(), entry.NewArray())
	var fields []arrow.Field
	var columns []arrow.Array
	for i, field := range batch.Schema().Fields() {
		if field.Name == passthrough {
			fields, columns = append(fields,
				arrow.Field{Name: field.Name, Type: column.DataType(), Nullable: true}), append(columns, column)
			continue
		}
		fields, columns = append(fields, field), append(columns, batch.Column(i))
	}
	return pipeline.Record{Value: stagestest.Message(t,
		array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows)))}
}

// A runner that stops between the parts of a message leaves a position from which the next one
// continues.
func TestFeaturizeStopsBetweenParts(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 100, 41, stagestest.Faults{})
	errGone := pipeline.Permanent(errors.New("gone"))
	for after := range 8 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			k := newKit(t, 2000, 0, 0)
			k.send(event(t, 0, rows), event(t, 1, rows))
			k.FailNext(pipeline.OpProduce, append(make([]error, after), errGone)...)
			if err := k.step(); !errors.Is(err, errGone) {
				t.Fatalf("error %v", err)
			}
			if err := k.part.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			out := append(k.rows(0), k.rows(1)...)
			if k.committed > int64(len(out)/100) {
				t.Errorf("offset %d is committed, %d rows are out", k.committed, len(out))
			}
			if c := k.runner.Env.Meter.Totals().Featurize; c.Featurized != int64(len(out)) {
				t.Errorf("%d rows are out, counts %+v", len(out), c)
			}
			taken := len(out)
			unsent := k.part.waiting
			if k.part.request != nil {
				unsent = append(unsent, k.part.request.parts...)
			}
			for _, part := range unsent {
				taken += int(part.Rows.RowCount)
			}
			if at := int(k.part.next)*100 + int(k.part.nextRow); at != taken {
				t.Errorf("stopped at offset %d row %d, %d rows were taken", k.part.next, k.part.nextRow, taken)
			}
			k.restart()
			if err := k.part.Close(t.Context()); err != nil || k.part.nextRow > 0 && k.committed != -1 {
				t.Errorf("offset %d, of which %d rows are out, is committed: %v", k.committed, k.part.nextRow, err)
			}
			if at := int(k.part.next)*100 + int(k.part.nextRow); at != len(out) ||
				(k.part.partlyOut == "") != (k.part.nextRow == 0) {
				t.Errorf("goes on at offset %d row %d of set %q, %d rows are out", k.part.next, k.part.nextRow, k.part.partlyOut,
					len(out))
			}
			if err := k.step(); err != nil {
				t.Fatal(err)
			}
			for offset := range int64(2) {
				if got := k.rows(offset); !slices.Equal(got, ascending(100)) {
					t.Errorf("offset %d: rows %v", offset, got)
				}
			}
			if k.committed != 2 {
				t.Errorf("offset %d is committed", k.committed)
			}
		})
	}
}

// A row whose output the broker refuses becomes a dead letter, even if the broker is unavailable
// for a while.
func TestFeaturizeOutputOverTheLimit(t *testing.T) {
	k := newKit(t, 3000, 8000, 0)
	rows := stagestest.Events(t, stagestest.Regression, 100, 41, stagestest.Faults{})
	long := withLongNames(t, rows.NewSlice(0, 100), 1, rand.New(rand.NewPCG(1, 1)))
	huge := withLongNames(t, rows.NewSlice(40, 41), 60_000, rand.New(rand.NewPCG(2, 2)))
	k.send(event(t, 0, long.NewSlice(0, 40), huge, long.NewSlice(40, 60)), event(t, 1, rows))
	outputs, seen := 0, false
	k.produced = func(topic string, records []pipeline.Record) {
		switch {
		case topic == k.runner.Env.Topics.Features:
			outputs++
			if sizes(records) > 8000 {
				if seen {
					t.Error("an output that was refused is sent again")
				}
				seen = true
				k.FailNext(pipeline.OpProduce, nil, errors.New("away for a moment")) // nil for this request
			}
		case !seen:
			t.Errorf("a dead letter before output %d", outputs)
		}
	}
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	deadLetters := k.deadLetters()
	if len(deadLetters) != 1 ||
		stagestest.Header(t, deadLetters[0], wire.HeaderErrorReason) != deadletter.ReasonOutputTooLarge ||
		stagestest.Header(t, deadLetters[0], wire.HeaderErrorOffset) != "0" ||
		!slices.Equal(deadLetters[0].Value, k.Records(k.runner.Env.Topics.Events, 2)[0].Value) {
		t.Fatalf("%d dead letters: %.300v", len(deadLetters), deadLetters)
	}
	if got, want := k.rows(0), slices.DeleteFunc(ascending(61),
		func(row int32) bool { return row == 40 }); !slices.Equal(got, want) {
		t.Errorf("rows %v", got)
	}
	if c := k.runner.Env.Meter.Totals().Featurize; c.Rows != 161 || c.Featurized != 160 || c.Rejected != 1 ||
		c.Messages != 2 || c.Undecodable != 0 {
		t.Errorf("counts %+v", c)
	}
}

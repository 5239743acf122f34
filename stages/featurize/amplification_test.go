package featurize

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// repeated is n rows of a column x0 with one value, and of further columns.
func repeated(n int, value float32, more map[string]arrow.Array) arrow.Record {
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	for range n {
		b.Append(value)
	}
	fields, columns := []arrow.Field{{Name: "x0", Type: arrow.PrimitiveTypes.Float32}}, []arrow.Array{b.NewArray()}
	for name, column := range more {
		fields, columns = append(fields,
			arrow.Field{Name: name, Type: column.DataType(), Nullable: true}), append(columns, column)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n))
}

// oneText is a dictionary column with a single text of a length.
func oneText(rows, bytes int) arrow.Array {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.Append(strings.Repeat("a", bytes))
	index := array.NewInt8Builder(memory.DefaultAllocator)
	index.AppendValues(make([]int8, rows), nil)
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	return array.NewDictionaryArray(of, index.NewArray(), texts.NewArray())
}

// wideFeaturizer has 500 features of x0, and a passthrough column.
func wideFeaturizer(t *testing.T) *Featurizer {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "x0", Type: arrow.PrimitiveTypes.Float32},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64},
		{Name: "note", Type: arrow.BinaryTypes.String},
	}, nil))
	for i := range 2000 {
		v := float64(i%97) / 10
		b.Field(0).(*array.Float32Builder).Append(float32(v))
		b.Field(1).(*array.Float64Builder).Append(math.Cos(v))
		b.Field(2).(*array.StringBuilder).Append("note")
	}
	e, c := explored.Wide(500)
	e.Passthrough = []string{"note"}
	return newCore(t, explored.FeatureSet(t, e, c, b.NewRecord()), Default().MaxOutputBytes)
}

// partsOf returns the parts of a message.
func partsOf(t *testing.T, f *Featurizer, source pipeline.Record) (parts []Part) {
	t.Helper()
	if err := f.Process(source, 0, stagestest.Noon, func(p Part) error {
		parts = append(parts, p)
		if p.Output != nil {
			f.Recycle(p.Output.Value)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return parts
}

// Dead letters of slices of a large message hold only their own bytes, and these are charged.
func TestDeadLettersAreCharged(t *testing.T) {
	f := wideFeaturizer(t)
	letters := 0
	for _, part := range partsOf(t, f,
		pipeline.Record{Value: stagestest.Message(t, repeated(50_000, float32(math.Inf(1)), nil))}) {
		letter := part.DeadLetter
		if letter == nil {
			continue
		}
		letters++
		if held := cap(letter.Value); held > 2*len(letter.Value)+4096 || letter.Memory() < held {
			t.Fatalf("a letter of %d bytes holds %d and is charged %d", len(letter.Value), held, letter.Memory())
		}
	}
	if letters < 50 {
		t.Errorf("%d letters", letters)
	}
}

// Bytes that a message repeats in its outputs and dead letters count against the bounds.
func TestRepetitionsAreBounded(t *testing.T) {
	inf, honest := float32(math.Inf(1)), float32(0.5)
	for name, c := range map[string]struct {
		rows    arrow.Record
		stored  int
		refused bool
	}{
		"a text in each dead letter": {
			rows:    repeated(60_000, inf, map[string]arrow.Array{"other": oneText(60_000, 1<<20)}),
			refused: true,
		},
		"a name in each dead letter": {
			rows:    repeated(60_000, inf, map[string]arrow.Array{strings.Repeat("n", 1<<20): array.NewNull(60_000)}),
			refused: true,
		},
		"a text in an output of each row": {
			rows:    repeated(20_000, honest, map[string]arrow.Array{"note": oneText(20_000, 1<<20)}),
			refused: true,
		},
		"rows that are almost nothing stored": {rows: repeated(100_000, honest, nil), stored: 90, refused: true},
		"a constant column, stored":           {rows: repeated(100_000, honest, nil), stored: 120},
		"few rows, stored as nothing":         {rows: repeated(5_000, honest, nil), stored: 1},
		"short texts": {
			rows: repeated(60_000, honest, map[string]arrow.Array{"other": oneText(60_000, 100), "note": oneText(60_000, 100)}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			value := stagestest.Message(t, c.rows)
			parts := partsOf(t, wideFeaturizer(t), pipeline.Record{Value: value, Stored: c.stored})
			refused := false
			if letter := parts[0].DeadLetter; letter != nil {
				refused = letter.Cause.Reason == deadletter.ReasonAmplification
			}
			if refused != c.refused {
				t.Errorf("%d bytes: refused %v, want %v", len(value), refused, c.refused)
			}
		})
	}
}

// Waiting dead letters are charged to the memory of outputs.
func TestWaitingDeadLettersAreCharged(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	bad := pipeline.Record{Value: []byte(strings.Repeat("x", 10<<10))}
	k.send(bad)
	var most int64
	k.produced = func(string, []pipeline.Record) { most = max(most, k.part.charged) }
	if err := errors.Join(k.step(), k.part.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if most < int64(len(bad.Value)) || k.part.charged != 0 {
		t.Errorf("%d bytes were charged for a letter of %d, %d are left", most, len(bad.Value), k.part.charged)
	}
}

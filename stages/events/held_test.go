package events

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Between messages, the reader of a partition and its encoded rows hold nothing large: neither the
// schema of the last message nor a schema text from the registry.
func TestReadersHoldLittle(t *testing.T) {
	const readers, large, most = 8, 2 << 20, 64 << 10
	enc := &encoder.Encoder{
		Columns: []encoder.Column{{Name: "a", Kind: encoder.Numeric, Width: 1, Mean: []float64{0}, Scale: []float64{1}}},
		Dim:     1,
	}
	name := strings.Repeat("n", large)
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Append(7)
	column := b.NewArray()
	rec := array.NewRecord(
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: column.DataType()}, {Name: name, Type: column.DataType()}}, nil),
		[]arrow.Array{column, column},
		1,
	)
	byArrow := stagestest.Message(t, rec)
	byAvro := append(binary.BigEndian.AppendUint32([]byte{0}, 2), 14)
	for what, message := range map[string][]byte{"arrow": byArrow, "registered": byAvro} {
		t.Run(what, func(t *testing.T) {
			source := Source{
				Format:   formats.Auto,
				Limits:   arrowio.DefaultLimits(),
				Slots:    NewSlots(1),
				Registry: NewSchemas(endless{}, zap.NewNop()),
			}
			all := make([]*Reader, readers)
			rows := make([]encoder.Rows, readers)
			before := live()
			for i := range all {
				all[i] = source.Reader(enc)
				all[i].registry = NewSchemas(endless{}, zap.NewNop())
				if err := all[i].Prepare(t.Context(), &pipeline.Record{Value: message}); err != nil {
					t.Fatal(err)
				}
				all[i].TryBegin()
				batches, err := all[i].Read(message)
				if err != nil {
					t.Fatal(err)
				}
				if err := enc.Encode(&rows[i], batches[0], nil); err != nil || rows[i].N != 1 {
					t.Fatal(err)
				}
				Release(batches)
				all[i].End()
				all[i].registry = source.Registry
			}
			<-source.Slots.idle // with the memory for aligned messages
			if held := (live() - before) / readers; held > most {
				t.Errorf("%d bytes for each reader, at most %d", held, most)
			}
			runtime.KeepAlive(all)
			runtime.KeepAlive(rows)
		})
	}
}

func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

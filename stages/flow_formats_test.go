package stages_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/formats/formatstest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// shelf is a registry of given schemas.
type shelf struct{ schemas map[uint32]registry.Schema }

func (s *shelf) Fetch(_ context.Context, id registry.ID) (registry.Schema, error) {
	if found, ok := s.schemas[id.Number]; ok {
		return found, nil
	}
	return registry.Schema{}, fmt.Errorf("%w: %s", registry.ErrNoSchema, id)
}

func (s *shelf) Answers(context.Context) error { return nil }

var registryTypes = map[formats.Format]string{formats.Avro: registry.TypeAvro, formats.Protobuf: registry.TypeProtobuf}

// put stores a schema and returns its id.
func (s *shelf) put(f formats.Format, text string) int {
	if s.schemas == nil {
		s.schemas = map[uint32]registry.Schema{}
	}
	id := len(s.schemas) + 1
	s.schemas[uint32(id)] = registry.Schema{Type: registryTypes[f], Text: text}
	return id
}

// sendAs sends rows in a format, to the partitions in turn; formats other than Arrow go to the
// first partition.
func (f *flow) sendAs(format formats.Format, rows arrow.Record, perMessage int, put func(formats.Format, string) int) {
	f.t.Helper()
	if format.NeedsSchema() {
		schema, messages := formatstest.Avro(f.t, rows)
		if format == formats.Protobuf {
			schema, messages = formatstest.Protobuf(f.t, rows)
		}
		id, records := uint32(put(format, schema)), []pipeline.Record{}
		for _, m := range messages {
			if format == formats.Protobuf {
				m = append([]byte{0}, m...) // of the first type in the schema
			}
			records = append(records, pipeline.Record{Value: formatstest.Framed(id, m)})
		}
		f.produce(f.settings.Topics.Events, 0, records...)
		return
	}
	if format == formats.JSON {
		for first := int64(0); first < rows.NumRows(); first += int64(perMessage) {
			part := rows.NewSlice(first, min(rows.NumRows(), first+int64(perMessage)))
			f.produce(f.settings.Topics.Events, 0, pipeline.Record{Value: formatstest.JSON(f.t, part)})
			part.Release()
		}
		return
	}
	producer, err := events.NewProducer(f.ctx, f.client, f.settings.Topics.Events, perMessage)
	if err == nil {
		err = producer.Add(f.ctx, rows)
	}
	if err == nil {
		err = producer.Flush(f.ctx)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestFlowFormatsGiveTheSameSet: the same rows give the same feature set in every message format.
func TestFlowFormatsGiveTheSameSet(t *testing.T) {
	t.Parallel()
	file := rows(0, 3000, nil)
	t.Cleanup(file.Release)
	want := setOfFile(t, testSettings(1), file).ID()
	for _, c := range []struct {
		name       string
		format     formats.Format
		perMessage int
	}{
		{"arrow", formats.Arrow, 256},
		{"json", formats.JSON, 256},
		{"json objects", formats.JSON, 1},
		{"avro", formats.Avro, 1},
		{"protobuf", formats.Protobuf, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, s := newFlow(t, 1, nil), &shelf{}
			f.sendAs(c.format, file, c.perMessage, s.put)
			f.start(exploring, func(w *worker) { w.Env.Registry = events.NewSchemas(s, zap.NewNop()) })
			if got := f.set(1); got.ID != want {
				t.Errorf("set %s, from the file %s", got.ID, want)
			}
			if n := len(f.deadLetters(0, meter.StageSubsample)); n > 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

package stages_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/avro"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// shelf is a registry of given schemas.
type shelf struct{ schemas map[uint32]registry.Schema }

func (s *shelf) Fetch(_ context.Context, id uint32) (registry.Schema, error) {
	if found, ok := s.schemas[id]; ok {
		return found, nil
	}
	return registry.Schema{}, fmt.Errorf("%w: %d", registry.ErrNoSchema, id)
}

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

// sendAs sends rows in a format, to the partitions in turn.
func (f *flow) sendAs(format formats.Format, rows arrow.Record, perMessage int, register events.Register) {
	f.t.Helper()
	producer, err := events.NewProducer(f.ctx, f.client, f.settings.Topics.Events, perMessage)
	if err == nil {
		producer.WriteAs(format, register)
		err = producer.Add(f.ctx, rows)
	}
	if err == nil {
		err = producer.Flush(f.ctx)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestFlowFormatsGiveTheSameSet: the same rows give the same feature set whatever format their messages have.
func TestFlowFormatsGiveTheSameSet(t *testing.T) {
	t.Parallel()
	file := rows(0, 3000, nil)
	t.Cleanup(file.Release)
	want := setOfFile(t, testSettings(1), file).ID()
	for _, c := range []struct {
		name       string
		format     formats.Format
		perMessage int
		registered bool
	}{
		{"arrow", formats.Arrow, 256, false}, {"json", formats.JSON, 256, false}, {"json objects", formats.JSON, 1, false},
		{"avro", formats.Avro, 256, true}, {"protobuf", formats.Protobuf, 256, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, s := newFlow(t, 1, nil), &shelf{}
			var register events.Register
			if c.registered {
				register = func(_ context.Context, format formats.Format, text string) (int, error) {
					return s.put(format, text), nil
				}
			}
			f.sendAs(c.format, file, c.perMessage, register)
			f.start(exploring, func(w *worker) { w.Registry = events.NewSchemas(s, zap.NewNop()) })
			if got := f.set(1); got.ID != want {
				t.Errorf("set %s, from the file %s", got.ID, want)
			}
			if n := len(f.deadLetters(0, meter.StageSubsample)); n > 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

// Three versions of an event: with an additional column that has a default, then with a renamed one that has the old name as alias.
const (
	avroV1 = `{"type": "record", "name": "E", "fields": [{"name": "a", "type": "double"}, {"name": "b", "type": ["null", "double"]}, {"name": "y", "type": "double"}]}`
	avroV2 = `{"type": "record", "name": "E", "fields": [{"name": "new", "type": "string", "default": "x"}, {"name": "a", "type": "double"}, {"name": "b", "type": ["null", "double"]}, {"name": "y", "type": "double"}]}`
	avroV3 = `{"type": "record", "name": "E", "fields": [{"name": "a", "type": "float"}, {"name": "second", "aliases": ["b"], "type": ["null", "double"]}, {"name": "y", "type": "double"}]}`
)

// TestFlowSchemasEvolve changes the schema twice in mid-stream: the encoder stays the same, and there are no dead letters.
func TestFlowSchemasEvolve(t *testing.T) {
	t.Parallel()
	f, s := newFlow(t, 1, func(s *stages.Settings) { s.Events.Passthrough = nil }), &shelf{}
	var values []pipeline.Record
	n := 0
	write := func(schema string, rows int, row func(a, b, y float64) map[string]any) {
		id, parsed := s.put(formats.Avro, schema), avro.MustParse(schema)
		for range rows {
			a, b := float64(n%17)-8, float64(n%23)/4
			n++
			body, err := parsed.Encode(row(a, b, a+b*b))
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, pipeline.Record{Value: append([]byte{0, 0, 0, 0, byte(id)}, body...)})
		}
		f.produce(f.settings.Topics.Events, 0, values...)
		values = nil
	}
	write(avroV1, 1000, func(a, b, y float64) map[string]any { return map[string]any{"a": a, "b": b, "y": y} })
	w := f.start([]string{meter.StageCalibrate, meter.StageSubsample, meter.StageSelect, meter.StageFeaturize}, func(w *worker) {
		w.Registry = events.NewSchemas(s, zap.NewNop())
	})
	set := f.set(1)
	write(avroV2, 300, func(a, b, y float64) map[string]any { return map[string]any{"a": a, "b": b, "y": y, "new": "z"} })
	write(avroV3, 300, func(a, b, y float64) map[string]any { return map[string]any{"a": float32(a), "second": b, "y": y} })
	stagestest.Until(t, "all rows are featurized", func() bool { return w.Meter.Totals().Featurize.Rows >= 1600 })
	if c := w.Meter.Totals().Featurize; c.Undecodable != 0 || c.Featurized != 1600 || c.Imputed != 0 {
		t.Errorf("%+v", c)
	}
	if now := f.set(1); now.ID != set.ID {
		t.Errorf("set %s, before %s", now.ID, set.ID)
	}
	if letters := f.deadLetters(0, ""); len(letters) > 0 {
		t.Errorf("%d dead letters", len(letters))
	}
}

// TestFlowObjectsWithoutAllColumns explores messages of one JSON object each, in which columns are sometimes null, absent or not
// numbers.
func TestFlowObjectsWithoutAllColumns(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Events.Passthrough = nil })
	var values []pipeline.Record
	for n := range 1200 {
		a, b, color := fmt.Sprintf("%.2f", float64(n%17)/3), fmt.Sprint(n%23), []string{"red", "blue"}[n%2]
		text := fmt.Sprintf(`{"a": %s, "in": {"b": %s, "color": %q}, "y": %.3f}`, a, b, color, float64(n%17)/3+float64(n%23))
		switch {
		case n%10 == 0:
			text = fmt.Sprintf(`{"a": null, "in": {"b": %s, "color": %q}, "y": 1.5}`, b, color)
		case n%10 == 3:
			text = fmt.Sprintf(`{"a": %s, "in": {"b": %s}, "y": 1.5}`, a, b)
		case n%50 == 7:
			text = fmt.Sprintf(`{"a": "n/a", "in": {"b": %s, "color": %q}, "y": 1.5}`, b, color)
		}
		values = append(values, pipeline.Record{Value: []byte(text)})
	}
	f.produce(f.settings.Topics.Events, 0, values...)
	f.start(exploring, nil)
	set := f.set(1)
	var names []string
	for _, c := range set.Set.Encoder.Columns {
		names = append(names, fmt.Sprint(c.Name, " ", c.Kind))
	}
	if got, want := fmt.Sprint(names), "[a numeric in.b numeric in.color category]"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	if c := set.Set.Lineage.Counts; c.Rows != 1200 || c.Undecodable != 0 || !c.Reconciles() {
		t.Errorf("%+v", c)
	}
	if letters := f.deadLetters(0, ""); len(letters) > 0 {
		t.Errorf("%d dead letters", len(letters))
	}
}

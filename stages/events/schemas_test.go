package events

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
)

// endless is a registry with a schema for every even id.
type endless struct{}

func (endless) Fetch(_ context.Context, id registry.ID) (registry.Schema, error) {
	if id.Number%2 != 0 {
		return registry.Schema{}, fmt.Errorf("%w: %s", registry.ErrNoSchema, id)
	}
	return registry.Schema{
		Type: registry.TypeAvro,
		Text: `{"type": "record", "name": "E", "fields": [{"name": "a", "type": "int"}]` + strings.Repeat(" ", 100<<10) + `}`,
	}, nil
}

func (endless) Answers(context.Context) error { return nil }

// TestReaderKeepsWhatItPrepared: a reader keeps its prepared schema while others fill the schema
// cache of the process.
func TestReaderKeepsWhatItPrepared(t *testing.T) {
	message := func(id uint32) []byte { return append(binary.BigEndian.AppendUint32([]byte{0}, id), 14) }
	for name, c := range map[string]struct {
		id  uint32
		say string
	}{"schema": {1 << 20, ""}, "refusal": {1<<20 + 1, "unknown_schema"}} {
		for _, ready := range []bool{false, true} {
			source := Source{Registry: NewSchemas(endless{}, zap.NewNop())}
			one, other := source.Reader(nil), source.Reader(nil)
			if one.Ready(&pipeline.Record{Value: message(c.id)}) {
				t.Errorf("%s: ready before anybody asked", name)
			}
			if err := one.Prepare(t.Context(), &pipeline.Record{Value: message(c.id)}); err != nil {
				t.Fatal(err)
			}
			if ready && !one.Ready(&pipeline.Record{Value: message(c.id)}) {
				t.Errorf("%s: not ready", name)
			}
			for id := range uint32(2 * keptAnswers / (100 << 10)) {
				if err := other.Prepare(t.Context(), &pipeline.Record{Value: message(id)}); err != nil {
					t.Fatal(err)
				}
			}
			if _, kept := source.Registry.answered(formats.SchemaID{Number: c.id}); kept {
				t.Errorf("%s: still there, so that nothing is tested", name)
			}
			batches, err := one.Read(message(c.id))
			if formats.Reason(err) != c.say {
				t.Errorf("%s: %v", name, err)
			}
			Release(batches)
		}
	}
}

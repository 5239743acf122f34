package arrowio

import (
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// Decoders that share schemas know what any of them has seen, but only under the same limits: under
// others it might be refused.
func TestDecodersShareSchemas(t *testing.T) {
	value, err := EncodeStream(
		arrow.NewSchema(
			[]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}},
			nil,
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	schemas := NewSchemas()
	decode := func(limits Limits) (*arrow.Schema, error) {
		d := NewDecoderSharing(limits, schemas)
		_, err := d.Decode(value)
		return d.Schema(), err
	}
	first, err := decode(DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if again, err := decode(DefaultLimits()); again != first || err != nil {
				t.Errorf("verified again, %v", err)
			}
		})
	}
	group.Wait()
	narrow := DefaultLimits()
	narrow.MaxColumns = 1
	if _, err := decode(narrow); err == nil {
		t.Error("a schema of two columns passes a limit of one")
	}
	if len(schemas.entries) != 1 {
		t.Errorf("%d schemas are kept", len(schemas.entries))
	}
}

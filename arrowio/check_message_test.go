package arrowio

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// schemaMetadata returns the metadata of a schema message.
func schemaMetadata(t testing.TB) []byte {
	t.Helper()
	meta := arrow.NewMetadata([]string{"k"}, []string{"v"})
	stream, err := EncodeStream(arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64},
		{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	}, &meta))
	if err != nil {
		t.Fatal(err)
	}
	return stream[8 : 8+binary.LittleEndian.Uint32(stream[4:])]
}

func TestCheckMessageRefusesListsLongerThanTheMessage(t *testing.T) {
	sound := schemaMetadata(t)
	if body, err := CheckMessage(sound); body != 0 || err != nil {
		t.Fatalf("a sound schema: body %d, %v", body, err)
	}
	refused := 0
	for at := 0; at+4 <= len(sound); at += 4 {
		damaged := append([]byte(nil), sound...)
		if n := binary.LittleEndian.Uint32(damaged[at:]); n == 0 || n > 2 {
			continue // not the length of one of its lists
		}
		binary.LittleEndian.PutUint32(damaged[at:], 1<<28)
		if _, err := CheckMessage(damaged); err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("length at %d: %v", at, err)
			}
			refused++
		}
	}
	if refused < 3 { // fields, children, metadata
		t.Errorf("%d damaged lengths refused", refused)
	}
}

func FuzzCheckMessage(f *testing.F) {
	f.Add(schemaMetadata(f))
	f.Fuzz(func(t *testing.T, metadata []byte) {
		if body, err := CheckMessage(metadata); err == nil && body < 0 {
			t.Errorf("body of %d bytes", body)
		}
	})
}

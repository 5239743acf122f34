package formats

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// TestDecoderReleasesLargeMessages decodes a message of each format with a large value: between
// messages the decoder holds neither the message nor the value.
func TestDecoderReleasesLargeMessages(t *testing.T) {
	many := func(open, each, end string) []byte {
		var b bytes.Buffer
		b.WriteString(open)
		for i := range 4000 {
			fmt.Fprintf(&b, each, i, strings.Repeat("n", 300))
		}
		b.Truncate(b.Len() - 1)
		b.WriteString(end)
		return b.Bytes()
	}
	arrowColumns := func() []byte {
		fields := make([]arrow.Field, 4000)
		for i := range fields {
			fields[i] = arrow.Field{
				Name:     fmt.Sprintf("%d%s", i, strings.Repeat("n", 300)),
				Type:     arrow.PrimitiveTypes.Int32,
				Nullable: true,
			}
		}
		value, err := arrowio.EncodeStream(arrow.NewSchema(fields, nil))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name, message := range map[string]func() []byte{
		"json":          func() []byte { return []byte(`{"a": "` + strings.Repeat("x", 1<<20) + `"}`) },
		"json, refused": func() []byte { return []byte(`{"a": 1} ` + strings.Repeat("]", 1<<20)) },
		"json, nested":  func() []byte { return []byte(`{"a": {"b": "` + strings.Repeat("x", 1<<20) + `"}}`) },
		"json, names":   func() []byte { return many(`{"a": [{`, `"%d%s":0,`, `}]}`) },
		"json, columns": func() []byte { return many(`{`, `"%d%s":0,`, `}`) },
		"avro":          func() []byte { return nestedAvroMessage(t, 3) },
		"protobuf":      func() []byte { return nestedProtoMessage(t) },
		"arrow":         arrowColumns,
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(Options{Registry: registered})
			before := liveHeap()
			at := func() weak.Pointer[byte] {
				value := message()
				recs, _ := d.Decode(value)
				release(recs)
				d.Trim()
				return weak.Make(&value[0])
			}()
			held := liveHeap() - before
			if at.Value() != nil {
				t.Error("the message is held")
			}
			if held > restingHeap {
				t.Errorf("%d bytes are held, at most %d", held, restingHeap)
			}
			runtime.KeepAlive(d)
		})
	}
}

// TestRowFaultsAllocateLittle checks the memory of searching a message for faults.
func TestRowFaultsAllocateLittle(t *testing.T) {
	enc := &encoder.Encoder{Columns: []encoder.Column{{Name: "a", Kind: encoder.Category, Width: 1}}}
	d, of := NewDecoder(Options{Encoder: enc}), NewRowColumns(enc, nil)
	body := []byte(`{"a": "` + strings.Repeat("x", 1<<20) + `"}`)
	recs, err := d.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	defer release(recs)
	taken := allocated(func() {
		if faults := d.RowFaults(of, false); len(faults) > 0 {
			t.Error(faults)
		}
	})
	if taken > 64<<10 {
		t.Errorf("%d bytes taken for a body of %d", taken, len(body))
	}
	strange, err := d.Decode([]byte(`{"a": "x", "what is this": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	defer release(strange)
	if faults := d.RowFaults(of, false); len(faults) != 1 || faults[0].Column != "what is this" || cap(of.given) > 0 {
		t.Errorf("%+v; %d columns are kept", faults, cap(of.given))
	}
}

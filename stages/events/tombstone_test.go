package events

import (
	"testing"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
)

// TestTombstonesHaveNoRows reads null and empty values in every format: a null value has no row,
// and an empty value is a message, which only Protobuf permits.
func TestTombstonesHaveNoRows(t *testing.T) {
	texts := map[formats.Format]string{
		formats.Avro:     `{"type": "record", "name": "E", "fields": [{"name": "x", "type": "double"}]}`,
		formats.Protobuf: `syntax = "proto3"; message M { double x = 1; bool y = 2; }`,
	}
	for _, f := range formats.All() {
		r := Source{Format: f, Schema: texts[f]}.Reader(nil)
		if batches, err := r.ReadRecord(&pipeline.Record{}); err != nil || len(batches) != 0 {
			t.Errorf("%s: null value: %v %v", f, batches, err)
		}
		batches, err := r.ReadRecord(&pipeline.Record{Value: []byte{}})
		if want := f == formats.Protobuf; (err == nil && CountRows(batches) == 1) != want {
			t.Errorf("%s: empty value: %v %v", f, batches, err)
		}
		Release(batches)
	}
}

// TestHeadersAboutTheValueAreNotPassedOn: a record made from an event is an Arrow stream, so that
// headers about the event's own value would be wrong.
func TestHeadersAboutTheValueAreNotPassedOn(t *testing.T) {
	rec := pipeline.Record{Headers: []pipeline.Header{
		{Key: "a"}, {Key: formats.SchemaHeader, Value: []byte{0, 0, 0, 0, 7}}, {Key: "b"},
	}}
	headers := DerivedHeaders(&rec)
	if len(headers) != 2 || headers[0].Key != "a" || headers[1].Key != "b" || len(rec.Headers) != 3 {
		t.Errorf("%v of %v", headers, rec.Headers)
	}
}

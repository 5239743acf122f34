package events

import (
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
)

// DropReserved removes the headers of events whose keys begin with [wire.ReservedPrefix], in place.
// A producer could otherwise forge the headers of messages derived from the event. It keeps the
// headers of a replayed event: the bounds of its time are checked, and every topic may hold Arrow.
func DropReserved(records []pipeline.Record) {
	for i := range records {
		if slices.ContainsFunc(records[i].Headers, reserved) {
			records[i].Headers = slices.DeleteFunc(slices.Clone(records[i].Headers), reserved)
		}
	}
}

func reserved(h pipeline.Header) bool {
	return strings.HasPrefix(h.Key, wire.ReservedPrefix) && h.Key != wire.HeaderEventTime &&
		h.Key != wire.HeaderReplayedRows
}

// DerivedHeaders returns the headers of an event for a record whose value is an Arrow stream made
// from it: with the event's time if it is known, and without headers about the event's own value.
func DerivedHeaders(r *pipeline.Record) []pipeline.Header {
	headers := meter.WithEventTime(r)
	if slices.ContainsFunc(headers, ofValue) {
		headers = slices.DeleteFunc(slices.Clone(headers), ofValue)
	}
	return headers
}

func ofValue(h pipeline.Header) bool {
	return h.Key == formats.SchemaHeader || h.Key == wire.HeaderReplayedRows
}

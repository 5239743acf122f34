package events

import (
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// DropReserved removes the headers of events whose keys begin with [wire.ReservedPrefix], in place.
// A producer could otherwise forge the headers of messages derived from the event. The time of a
// replayed event is kept, because its bounds are checked.
func DropReserved(records []pipeline.Record) {
	for i := range records {
		if slices.ContainsFunc(records[i].Headers, reserved) {
			records[i].Headers = slices.DeleteFunc(slices.Clone(records[i].Headers), reserved)
		}
	}
}

func reserved(h pipeline.Header) bool {
	return strings.HasPrefix(h.Key, wire.ReservedPrefix) && h.Key != wire.HeaderEventTime
}

package meter

import (
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// EventTime is when the event of a record happened: the time in its header ([wire.HeaderEventTime]), or else the
// record's own timestamp.
func EventTime(r *pipeline.Record) time.Time {
	if value, ok := r.Header(wire.HeaderEventTime); ok {
		if event, ok := wire.ParseEventTime(value); ok {
			return event
		}
	}
	return r.Time
}

// WithEventTime returns the headers of a record with the time of its event among them, for the records made from it.
func WithEventTime(r *pipeline.Record) []pipeline.Header {
	if _, there := r.Header(wire.HeaderEventTime); there || !carriesTime(r.Time) {
		return r.Headers
	}
	return append(slices.Clip(r.Headers), wire.EventTimeHeader(r.Time))
}

// carriesTime reports whether a time is set: if it is not, brokers give the first millisecond of 1970 or the one
// before.
func carriesTime(t time.Time) bool { return t.Unix() > 0 }

package meter

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// endOfTimes is the first moment that JSON cannot represent. A producer that confuses units sends
// later times.
var endOfTimes = time.Date(10_000, time.January, 1, 0, 0, 0, 0, time.UTC)

// unknownTime marks a record without a known time.
var unknownTime = time.UnixMilli(0).UTC()

// knownTime reports whether a time lies in the years 1970 to 9999. Brokers give records without a
// time the first millisecond of 1970 or the one before.
func knownTime(t time.Time) bool { return t.Unix() > 0 && t.Before(endOfTimes) }

// headerTime returns the time in the header of a record derived from an event.
func headerTime(r *pipeline.Record) (event time.Time, present, known bool) {
	value, present := r.Header(wire.HeaderEventTime)
	if !present {
		return time.Time{}, false, false
	}
	event, known = wire.ParseEventTime(value)
	return event, true, known && knownTime(event)
}

// EventTime returns the time of the event from which a record was derived: the time in its header
// ([wire.HeaderEventTime]), or else the record's own timestamp, which is never earlier. If neither
// lies in the years 1970 to 9999, it returns the first millisecond of 1970.
func EventTime(r *pipeline.Record) time.Time {
	event, _, known := headerTime(r)
	switch {
	case known && (event.Before(r.Time) || !knownTime(r.Time)):
		return event
	case knownTime(r.Time):
		return r.Time
	}
	return unknownTime
}

// CheckTime makes the time of an event unknown if it lies outside the years 1970 to 9999 or more
// than ahead after the time when its record was appended, so that one producer with a wrong unit or
// clock does not distort results computed from times. It counts such events, and logs the first
// one. If the broker does not report when it appended the record, the time of reading, now, is its
// bound. The time in the header of a replayed dead letter is checked before the record's own
// timestamp.
func (m *Meter) CheckTime(logger *zap.Logger, r *pipeline.Record, now time.Time, ahead time.Duration) {
	if r.Appended && knownTime(r.Time) {
		now = r.Time
	}
	latest, refused := now.Add(ahead), false
	if event, present, known := headerTime(r); present && (!known || event.After(latest)) {
		refused = true
		r.Headers = withoutEventTime(r.Headers)
	}
	if _, present := r.Header(wire.HeaderEventTime); !present && r.Time.Unix() > 0 &&
		(!knownTime(r.Time) || r.Time.After(latest)) {
		refused = true
		r.Time = unknownTime
	}
	if !refused {
		return
	}
	first := false
	m.update(func() {
		first = m.activity.IgnoredTimes == 0
		m.activity.IgnoredTimes++
	})
	if first {
		logger.Warn("event time is out of bounds; treating it as unknown, and only counting further ones",
			zap.String("topic", r.Topic), zap.Int("partition", r.Partition), zap.Int64("offset", r.Offset),
			zap.Time("latest", latest))
	}
}

func withoutEventTime(headers []pipeline.Header) []pipeline.Header {
	return slices.DeleteFunc(slices.Clone(headers), func(h pipeline.Header) bool {
		return h.Key == wire.HeaderEventTime
	})
}

// WithEventTime returns the headers of an event for the records derived from it, with the event's
// time added if it is known.
func WithEventTime(r *pipeline.Record) []pipeline.Header {
	_, present, known := headerTime(r)
	switch {
	case known:
		return r.Headers
	case present:
		return withoutEventTime(r.Headers)
	case !knownTime(r.Time):
		return r.Headers
	}
	return append(slices.Clip(r.Headers), wire.EventTimeHeader(r.Time))
}

package wire

import (
	"strconv"
	"time"
)

// EventTimeHeader carries the timestamp of an event to what is made of it, in milliseconds since 1970. A message that is made
// later has a timestamp of its own: brokers refuse one far in the future, and retention counts from it.
func EventTimeHeader(event time.Time) Header { return numberHeader(HeaderEventTime, event.UnixMilli()) }

// ParseEventTime reads the value of an [EventTimeHeader].
func ParseEventTime(value []byte) (event time.Time, ok bool) {
	const digits = 19
	if len(value) > digits {
		return time.Time{}, false
	}
	millis, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || millis <= 0 {
		return time.Time{}, false
	}
	return time.UnixMilli(millis).UTC(), true
}

package wire

import (
	"strconv"
	"time"
)

// EventTimeHeader copies the timestamp of an event to the messages made from it, in milliseconds
// since 1970. Such messages have their own timestamps, because brokers refuse timestamps far in the
// future, and retention counts from them.
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

package wire

import (
	"strconv"
	"time"
)

// EventTimeHeader copies the timestamp of an event to the messages made from it, in milliseconds
// since 1970. Such messages have their own timestamps, because brokers refuse timestamps far in the
// future, and retention counts from them.
func EventTimeHeader(event time.Time) Header { return numberHeader(HeaderEventTime, event.UnixMilli()) }

// lastEventMillis is the end of the year 9999.
const lastEventMillis = 253402300799999

// ParseEventTime reads the value of an [EventTimeHeader].
func ParseEventTime(value []byte) (event time.Time, ok bool) {
	if headerShapes[HeaderEventTime].CheckText(string(value)) != nil {
		return time.Time{}, false
	}
	millis, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || millis <= 0 {
		return time.Time{}, false
	}
	return time.UnixMilli(millis).UTC(), true
}

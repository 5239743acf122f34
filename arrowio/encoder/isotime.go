package encoder

import (
	"strings"
	"time"
)

// ParseInstant reads an ISO 8601 date or instant as seconds since 1970 and nanoseconds: 2006-01-02,
// optionally followed by a T or a space and 15:04, 15:04:05 or 15:04:05.999, and then Z or an
// offset such as +01:00, +0100 or +01. Without an offset it is UTC.
func ParseInstant(text string) (seconds, nanos int64, ok bool) {
	text = strings.Trim(text, " ")
	if len(text) < 10 || text[4] != '-' || text[7] != '-' {
		return 0, 0, false
	}
	year, yearOK := digits(text[:4])
	month, monthOK := digits(text[5:7])
	day, dayOK := digits(text[8:10])
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	// others are moved to one that exists
	if !yearOK || !monthOK || !dayOK || int(midnight.Month()) != month || midnight.Day() != day {
		return 0, 0, false
	}
	seconds = midnight.Unix()
	rest := text[10:]
	if rest == "" {
		return seconds, 0, true
	}
	if rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ' {
		return 0, 0, false
	}
	clock, offset, ok := cutOffset(rest[1:])
	if !ok {
		return 0, 0, false
	}
	ofDay, nanos, ok := parseClock(clock)
	return seconds + ofDay - offset, nanos, ok
}

// parseClock reads a time of day, 15:04, 15:04:05 or 15:04:05.999, as seconds and nanoseconds since
// midnight.
func parseClock(text string) (seconds, nanos int64, ok bool) {
	text = strings.Trim(text, " ")
	if len(text) < 5 || text[2] != ':' {
		return 0, 0, false
	}
	hour, hourOK := digits(text[:2])
	minute, minuteOK := digits(text[3:5])
	if !hourOK || !minuteOK || hour > 23 || minute > 59 {
		return 0, 0, false
	}
	seconds = int64(hour)*3600 + int64(minute)*60
	rest := text[5:]
	if rest == "" {
		return seconds, 0, true
	}
	if len(rest) < 3 || rest[0] != ':' {
		return 0, 0, false
	}
	second, secondOK := digits(rest[1:3])
	nanos, nanosOK := parseFraction(rest[3:])
	return seconds + int64(second), nanos, secondOK && nanosOK && second <= 59
}

// cutOffset splits a time of day from the offset after it, which is returned in seconds east of
// UTC.
func cutOffset(text string) (clock string, offset int64, ok bool) {
	if at := len(text) - 1; at >= 0 && (text[at] == 'Z' || text[at] == 'z') {
		return text[:at], 0, true
	}
	at := strings.LastIndexAny(text, "+-")
	if at < 0 {
		return text, 0, true
	}
	zone := strings.Replace(text[at+1:], ":", "", 1)
	if len(zone) != 2 && len(zone) != 4 {
		return "", 0, false
	}
	hours, hoursOK := digits(zone[:2])
	minutes, minutesOK := digits(zone[2:])
	if !hoursOK || !minutesOK || hours > 23 || minutes > 59 {
		return "", 0, false
	}
	offset = int64(hours)*3600 + int64(minutes)*60
	if text[at] == '-' {
		offset = -offset
	}
	return text[:at], offset, true
}

// parseFraction reads a fraction of a second (a point or comma, then digits) or nothing. Digits
// beyond the ninth are dropped.
func parseFraction(text string) (nanos int64, ok bool) {
	if text == "" {
		return 0, true
	}
	if len(text) < 2 || text[0] != '.' && text[0] != ',' {
		return 0, false
	}
	unit := int64(100_000_000)
	for i := 1; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		nanos += unit * int64(text[i]-'0')
		unit /= 10
	}
	return nanos, true
}

// digits reads a few decimal digits; no digits give 0.
func digits(text string) (n int, ok bool) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int(text[i]-'0')
	}
	return n, true
}

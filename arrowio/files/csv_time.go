package files

import "time"

// parseDate reads an ISO date, 2024-02-29, as days since 1970.
func parseDate(s string) (days int32, ok bool) {
	if len(s) != len("2024-02-29") {
		return 0, false
	}
	seconds, ok := dateSeconds(s)
	return int32(seconds / 86400), ok // no remainder: a date is whole days
}

// parseTimestamp reads an ISO date with or without a time, "2024-02-29T10:30:00.25+01:00", as microseconds since 1970.
// A space may replace the T, seconds and fractions may be omitted, and digits below microseconds are cut off. Without a
// zone the time is UTC.
func parseTimestamp(s string) (micros int64, ok bool) {
	seconds, ok := dateSeconds(s)
	if !ok {
		return 0, false
	}
	if s = s[len("2024-02-29"):]; s == "" {
		return seconds * 1e6, true
	}
	if s[0] != 'T' && s[0] != 't' && s[0] != ' ' {
		return 0, false
	}
	clock, rest, ok := clockMicros(s[1:])
	if !ok {
		return 0, false
	}
	offset, ok := zoneSeconds(rest)
	return (seconds-offset)*1e6 + clock, ok
}

// dateSeconds reads the date at the start of s as seconds since 1970.
func dateSeconds(s string) (int64, bool) {
	if len(s) < len("2024-02-29") || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	year, okYear := digits(s[:4])
	month, okMonth := digits(s[5:7])
	day, okDay := digits(s[8:10])
	if !okYear || !okMonth || !okDay || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return date.Unix(), date.Day() == day // 30 February is in March
}

// clockMicros reads hh:mm, hh:mm:ss or hh:mm:ss.fraction from the start of s, and returns what follows.
func clockMicros(s string) (micros int64, rest string, ok bool) {
	if len(s) < len("10:30") || s[2] != ':' {
		return 0, "", false
	}
	hour, okHour := digits(s[:2])
	minute, okMinute := digits(s[3:5])
	if !okHour || !okMinute || hour > 23 || minute > 59 {
		return 0, "", false
	}
	micros, s = int64(hour*60+minute)*60e6, s[5:]
	if len(s) < len(":00") || s[0] != ':' {
		return micros, s, true
	}
	second, ok := digits(s[1:3])
	if !ok || second > 59 {
		return 0, "", false
	}
	micros, s = micros+int64(second)*1e6, s[3:]
	if len(s) < len(".0") || s[0] != '.' && s[0] != ',' {
		return micros, s, true
	}
	place := int64(1e5)
	at := 1
	for ; at < len(s) && s[at] >= '0' && s[at] <= '9'; at++ {
		micros += place * int64(s[at]-'0')
		place /= 10
	}
	return micros, s[at:], at > 1
}

// zoneSeconds reads a zone, Z, +01, +0100 or +01:00, as seconds ahead of UTC.
func zoneSeconds(s string) (int64, bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, true
	}
	sign := int64(1)
	switch s[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return 0, false
	}
	s = s[1:]
	if len(s) == len("01:00") && s[2] == ':' {
		s = s[:2] + s[3:]
	}
	if len(s) == len("01") {
		s += "00"
	}
	if len(s) != len("0100") {
		return 0, false
	}
	hour, okHour := digits(s[:2])
	minute, okMinute := digits(s[2:])
	return sign * int64(hour*60+minute) * 60, okHour && okMinute && hour <= 23 && minute <= 59
}

// digits reads a short number that has only decimal digits.
func digits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return n, true
}

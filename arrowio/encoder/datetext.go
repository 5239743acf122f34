package encoder

import (
	"strings"
	"time"
)

// The orders of dates whose order their text leaves open, and the other forms of times in numbers.
const (
	// DayFirst reads 03/04/2020 as 3 April, MonthFirst as 4 March.
	DayFirst   = "dd/mm/yyyy"
	MonthFirst = "mm/dd/yyyy"
	// DateNumbers are numbers such as 20201231.
	DateNumbers = "yyyymmdd"
	// Seconds and the others are the units of times counted since 1970.
	Seconds      = "seconds"
	Milliseconds = "milliseconds"
	Microseconds = "microseconds"
	Nanoseconds  = "nanoseconds"
)

// writtenTime is a date or an instant as people write it.
type writtenTime struct {
	seconds, nanos int64
	clock          bool // it has a time of day
	zoned          bool // it has a zone
	open           bool // its text leaves open whether day or month is first
}

// parseTime reads a date, perhaps with a time of day and a zone: ISO 8601, 31/12/2020, 31.12.20,
// 12/31/2020 01:00 PM, 2020/1/5, 31 Dec 2020, Dec 31, 2020 or 20201231T000000. Only where day and
// month are numbers before the year does the order matter. Years of two digits are 1969 to 2068.
// A time without a zone is in UTC.
func parseTime(text string, monthFirst bool) (w writtenTime, ok bool) {
	s := strings.Trim(text, " ")
	if len(s) < 6 || len(s) > maxTimeText {
		return w, false
	}
	date, rest, ok := cutDate(cutWeekday(s))
	if !ok {
		return w, false
	}
	if date.open && monthFirst {
		date.day, date.month = date.month, date.day
	}
	w.open = date.open
	day := time.Date(date.year, time.Month(date.month), date.day, 0, 0, 0, 0, time.UTC)
	if int(day.Month()) != date.month || day.Day() != date.day { // others are moved to one that exists
		return w, false
	}
	w.seconds = day.Unix()
	if rest == "" {
		return w, true
	}
	clock, ok := cutSeparator(rest)
	if !ok {
		return w, false
	}
	w.clock = true
	return w, w.addClock(clock)
}

// maxTimeText bounds the bytes of a time.
const maxTimeText = 48

// writtenDate is the date of a text.
type writtenDate struct {
	year, month, day int
	open             bool // day and month may be the other way round
}

// cutWeekday removes the name of a weekday before a date.
func cutWeekday(s string) string {
	n := letters(s)
	if n < 3 {
		return s
	}
	name := strings.ToLower(s[:n])
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		if strings.HasPrefix(day, name) {
			return strings.TrimLeft(s[n:], ".,; ")
		}
	}
	return s
}

// letters is the number of ASCII letters at the start of a text.
func letters(s string) (n int) {
	for n < len(s) && s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' {
		n++
	}
	return n
}

// leading is the number of digits at the start of a text.
func leading(s string) (n int) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// cutDate reads the date at the start of a text.
func cutDate(s string) (d writtenDate, rest string, ok bool) {
	if leading(s) == len("20201231") {
		d.year, _ = digits(s[:4])
		d.month, _ = digits(s[4:6])
		d.day, _ = digits(s[6:8])
		return d, s[8:], d.year >= leastYear && d.year <= mostYear
	}
	var parts [3]string
	var ends [2]byte // the separators
	for i := range parts {
		n := max(leading(s), letters(s))
		parts[i], s = s[:n], s[n:]
		if n == 0 || i == 2 {
			continue
		}
		n = separatorLength(s)
		if n == 0 {
			return d, "", false
		}
		ends[i], s = s[0], s[n:]
	}
	d, ok = dateOf(parts)
	if !ok || ends[0] == ',' || ends[0] != ends[1] && isDigit(parts[0][0]) && isDigit(parts[1][0]) {
		return d, "", false
	}
	return d, s, true
}

// The years of dates that are digits alone, so that few other numbers are dates.
const leastYear, mostYear = 1900, 2099

// separatorLength is the length of the separator between the parts of a date.
func separatorLength(s string) int {
	if s == "" || strings.IndexByte("-/. ,", s[0]) < 0 {
		return 0
	}
	n := 1
	for n < len(s) && s[n] == ' ' {
		n++
	}
	return n
}

// dateOf returns the date of three parts.
func dateOf(parts [3]string) (d writtenDate, ok bool) {
	for _, part := range parts {
		if part == "" {
			return d, false
		}
	}
	named := [2]int{monthOf(parts[0]), monthOf(parts[1])}
	var numbers [3]int
	for i, part := range parts {
		n, isNumber := digits(part)
		if !isNumber && (i == 2 || named[i] == 0) {
			return d, false
		}
		numbers[i] = n
	}
	short := func(i int) bool { return len(parts[i]) <= 2 }
	switch {
	case named[0] > 0: // Dec 31 2020
		d.month, d.day = named[0], numbers[1]
		return d, named[1] == 0 && short(1) && d.setYear(parts[2], numbers[2])
	case named[1] > 0 && len(parts[0]) == 4: // 2020 Dec 31
		d.year, d.month, d.day = numbers[0], named[1], numbers[2]
		return d, short(2)
	case named[1] > 0: // 31 Dec 2020
		d.day, d.month = numbers[0], named[1]
		return d, short(0) && d.setYear(parts[2], numbers[2])
	case len(parts[0]) == 4: // 2020-12-31
		d.year, d.month, d.day = numbers[0], numbers[1], numbers[2]
		return d, short(1) && short(2)
	}
	d.day, d.month = numbers[0], numbers[1]
	d.open = true
	return d, short(0) && short(1) && d.setYear(parts[2], numbers[2])
}

// setYear sets a year of four or two digits.
func (d *writtenDate) setYear(text string, year int) bool {
	const pivot = 69 // as in POSIX
	switch {
	case len(text) == 4:
	case len(text) == 2 && year < pivot:
		year += 2000
	case len(text) == 2:
		year += 1900
	default:
		return false
	}
	d.year = year
	return true
}

// monthOf returns the number of a month from its English name or the start of it, 0 for other text.
func monthOf(text string) int {
	if len(text) < 3 {
		return 0
	}
	name := strings.ToLower(text)
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		if name == full || name == full[:3] || name == "sept" && m == time.September {
			return int(m)
		}
	}
	return 0
}

// cutSeparator removes what separates a date from a time of day.
func cutSeparator(s string) (clock string, ok bool) {
	switch {
	case s[0] == 'T' || s[0] == 't':
		return s[1:], true
	case strings.HasPrefix(s, ", ") || s[0] == ' ':
		return strings.TrimLeft(s[1:], " "), true
	}
	return "", false
}

// addClock adds a time of day with an optional zone.
func (w *writtenTime) addClock(s string) bool {
	for _, zone := range []string{"UTC", "GMT"} {
		if cut, found := strings.CutSuffix(s, zone); found && cut != "" {
			s = strings.TrimRight(cut, " ") + "Z"
		}
	}
	clock, offset, ok := cutOffset(s)
	if !ok {
		return false
	}
	w.zoned = len(clock) < len(s)
	ofDay, nanos, ok := parseHours(strings.Trim(clock, " "))
	w.seconds += ofDay - offset
	w.nanos = nanos
	return ok
}

// parseHours is parseClock that also reads 9:30, 153000 and 03:30 PM.
func parseHours(s string) (seconds, nanos int64, ok bool) {
	s, afternoon, halves := cutHalf(s)
	switch n := leading(s); {
	case n == 1 && len(s) > 1 && s[1] == ':' || n == 1 && halves && len(s) == 1:
		s = "0" + s
	case n == 4 || n == 6:
		s = s[:2] + ":" + s[2:4] + strings.TrimSuffix(":"+s[4:], ":")
	}
	if halves && len(s) == 2 {
		s += ":00"
	}
	seconds, nanos, ok = parseClock(s)
	if !halves || !ok {
		return seconds, nanos, ok
	}
	const half = secondsOfDay / 2
	hour := seconds / 3600
	if hour == 0 || hour > 12 {
		return 0, 0, false
	}
	if hour == 12 {
		seconds -= half
	}
	if afternoon {
		seconds += half
	}
	return seconds, nanos, true
}

// cutHalf removes AM or PM from the end of a time of day.
func cutHalf(s string) (rest string, afternoon, found bool) {
	lower := strings.ToLower(s)
	for _, half := range []string{"am", "a.m.", "pm", "p.m."} {
		if strings.HasSuffix(lower, half) {
			return strings.TrimRight(s[:len(s)-len(half)], " "), half[0] == 'p', true
		}
	}
	return s, false, false
}

// time reads a date or an instant in the form as seconds since 1970.
func (f *Form) time(text string) (float64, bool) {
	if f.nulls.adds(text) {
		return 0, false
	}
	if seconds, nanos, ok := ParseInstant(text); ok {
		return inSeconds(seconds, nanos), true
	}
	if f.Counts() {
		if v, ok := f.number(text); ok {
			return f.since(v)
		}
	}
	w, ok := parseTime(text, f.Dates == MonthFirst)
	return inSeconds(w.seconds, w.nanos), ok
}

// Counts reports whether times in the form are numbers.
func (f *Form) Counts() bool { return f.Dates != "" && f.Dates != DayFirst && f.Dates != MonthFirst }

// unitsOf is the number of units of a form in a second, 0 for forms that count none.
var unitsOf = map[string]int64{Seconds: 1, Milliseconds: 1e3, Microseconds: 1e6, Nanoseconds: 1e9}

// since returns the seconds since 1970 of a time that is a number.
func (f *Form) since(v float64) (float64, bool) {
	if per := unitsOf[f.Dates]; per > 0 {
		return v / float64(per), finite(v)
	}
	return dateNumber(v)
}

// dateNumber returns the seconds since 1970 of a number such as 20201231.
func dateNumber(v float64) (float64, bool) {
	if !(v >= leastYear*1e4 && v <= mostYear*1e4+1231) {
		return 0, false
	}
	n := int64(v)
	year, month, day := int(n/1e4), time.Month(n/100%100), int(n%100)
	at := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return float64(at.Unix()), float64(n) == v && at.Month() == month && at.Day() == day
}

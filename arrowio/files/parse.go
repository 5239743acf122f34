package files

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
)

// parseBool reads true and false in common spellings.
func parseBool(s string) (value, ok bool) {
	switch s {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// parseFloat reads a decimal number, nan or inf. A number too large for the width is infinite, as
// in IEEE arithmetic: the row is then rejected for its value, not the file for its syntax.
// Hexadecimal numbers and digit separators, which strconv accepts because Go does, are not numbers
// in data files.
func parseFloat(s string, bits int) (float64, bool) {
	v, err := strconv.ParseFloat(s, bits)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	for i := range len(s) {
		if c := s[i]; c == 'x' || c == 'X' || c == '_' {
			return 0, false
		}
	}
	return v, true
}

// parseDate reads an ISO date, 2024-02-29.
func parseDate(s string) (arrow.Date32, bool) {
	t, err := time.Parse(time.DateOnly, s)
	return arrow.Date32FromTime(t), err == nil
}

// parseTime reads an ISO date with or without a time, "2024-02-29T10:30:00.25+01:00". A space may replace the T, and
// seconds and fractions may be omitted. Without a zone the time is UTC.
func parseTime(s string) (time.Time, bool) {
	layout := time.DateOnly
	if at := len(layout); len(s) > at && (s[at] == 'T' || s[at] == ' ') {
		zone := strings.LastIndexAny(s[at:], "Z+-")
		if zone < 0 {
			zone = len(s) - at
		}
		layout += s[at:at+1] + "15:04"
		if at+zone > len(layout) {
			layout += ":05"
		}
		layout += map[int]string{1: "Z07:00", 3: "-07", 5: "-0700", 6: "-07:00"}[len(s)-at-zone]
	}
	t, err := time.Parse(layout, s)
	return t, err == nil
}

// shortened returns a copy of s, or of its start.
func shortened(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strings.Clone(s)
}

// notA says that a field is not of its column's type.
func notA(s string, t arrow.DataType) error {
	one, _ := typeWords(t)
	return fmt.Errorf("%q is not %s", shortened(s), one)
}

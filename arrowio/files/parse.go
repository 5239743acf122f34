package files

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
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

// parseCommaFloat reads a number with a decimal comma, and perhaps dots between groups of three
// digits: 12,5 or -1.234,50. It is unsure about numbers such as 1,234, whose comma may separate
// thousands.
func parseCommaFloat(s string) (v float64, sure, ok bool) {
	whole, fraction, found := strings.Cut(s, ",")
	digits := strings.TrimLeft(whole, "+-")
	if !found || fraction == "" || len(whole)-len(digits) > 1 || strings.Trim(fraction, "0123456789") != "" {
		return 0, false, false
	}
	groups := strings.Split(digits, ".")
	for i, group := range groups {
		if strings.Trim(group, "0123456789") != "" || len(groups) > 1 && (i > 0 && len(group) != 3 || group == "" ||
			len(group) > 3) {
			return 0, false, false
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(whole, ".", "")+"."+fraction, 64)
	sure = len(groups) > 1 || len(fraction) != 3 || digits == "" || digits[0] == '0' || len(digits) > 3
	return v, sure, err == nil || errors.Is(err, strconv.ErrRange)
}

// parseCommaOrWhole reads a field of a column of numbers with decimal commas.
func parseCommaOrWhole(s string) (float64, bool) {
	if v, _, ok := parseCommaFloat(s); ok {
		return v, true
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return float64(v), err == nil
}

// parseDate reads an ISO date, 2024-02-29.
func parseDate(s string) (arrow.Date32, bool) {
	at, ok := parseTime(s)
	return arrow.Date32FromTime(at), ok && len(s) == len(time.DateOnly)
}

// parseTime reads an ISO date with or without a time, as it is read in events.
func parseTime(s string) (time.Time, bool) {
	seconds, nanos, ok := encoder.ParseInstant(s)
	return time.Unix(seconds, nanos).UTC(), ok
}

// shortened returns a copy of s, or of its start.
func shortened(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strings.Clone(s)
}

// notA returns the error for a field of another type than its column's.
func notA(s string, t arrow.DataType) error {
	one, _ := typeWords(t)
	return fmt.Errorf("%q is not %s", shortened(s), one)
}

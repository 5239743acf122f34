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

package files

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	if err != nil && !isRange(err) {
		return 0, false
	}
	for i := range len(s) {
		if c := s[i]; c == 'x' || c == 'X' || c == '_' {
			return 0, false
		}
	}
	return v, true
}

// excerpt quotes s for an error message, shortened.
func excerpt(s string) string { return strconv.Quote(shortened(s)) }

// shortened returns a copy of s, or of its start.
func shortened(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strings.Clone(s)
}

// notA says that a field does not hold what its column requires.
func notA(s, want string) error { return fmt.Errorf("%s is not %s", excerpt(s), want) }

// isRange reports whether a strconv error says that a number is too large.
func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

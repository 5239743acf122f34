// Package bytesize formats sizes in bytes.
package bytesize

import (
	"math"
	"strconv"
)

var units = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// Text formats a size with at most three digits and a unit: 64 MiB, 1.5 GiB, 100 B.
func Text(bytes int64) string {
	size, unit := float64(bytes), 0
	for math.Abs(size) >= 999.5 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	digits := 0
	switch { // three digits, no decimals if the size is a whole number
	case math.Abs(size) < 9.995:
		digits = 2
	case math.Abs(size) < 99.95:
		digits = 1
	}
	rounded := math.Round(size*math.Pow10(digits)) / math.Pow10(digits)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " " + units[unit]
}

// Compared formats two sizes to compare: in bytes if they differ but would look the same.
func Compared(a, b int64) (string, string) {
	textA, textB := Text(a), Text(b)
	if textA == textB && a != b {
		return exact(a), exact(b)
	}
	return textA, textB
}

func exact(bytes int64) string { return strconv.FormatInt(bytes, 10) + " bytes" }

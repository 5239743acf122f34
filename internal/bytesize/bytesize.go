// Package bytesize formats sizes in bytes.
package bytesize

import (
	"github.com/dustin/go-humanize"
)

// Text formats a size with a unit: 64 MiB, 1.5 GiB, 100 B.
func Text(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }

// Compared formats two sizes for comparison: in bytes if they differ but would look the same with
// units.
func Compared(a, b int64) (string, string) {
	textA, textB := Text(a), Text(b)
	if textA == textB && a != b {
		return humanize.Comma(a) + " bytes", humanize.Comma(b) + " bytes"
	}
	return textA, textB
}

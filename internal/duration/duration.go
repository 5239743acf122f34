// Package duration formats durations for people.
package duration

import (
	"strings"
	"time"
)

// Text returns the shortest common form, such as 1m instead of 1m0s.
func Text(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

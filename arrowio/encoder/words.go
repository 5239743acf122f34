package encoder

import (
	"fmt"
	"time"
)

// Past describes in the units of the rows the rows for which dimension j is above or below a
// threshold: "age > 37.5", "plan = pro", "plan ≠ pro", "seen < 2026-03-01". If all rows are past
// the threshold, because it is outside of the dimension's range, the result is the dimension's
// name. The comparison is > or < unless equal rows are past it as well.
func (e *Encoder) Past(j int, threshold float64, above, orEqual bool) string {
	at := j
	for i := range e.Columns {
		c := &e.Columns[i]
		if at >= c.Width {
			at -= c.Width
			continue
		}
		if e.Clip > 0 && at < len(c.Scale) {
			tail := e.HasTail(c, at)
			if allPast(threshold, e.Clip, above, orEqual, tail) {
				return c.dimensionName(at)
			}
			if tail {
				threshold = unclipped(threshold, e.Clip)
			}
		}
		return c.past(at, threshold, above, orEqual)
	}
	panic(fmt.Sprintf("encoder: dimension %d of %d", j, e.Dim))
}

// allPast reports whether all values of a standardized dimension are past a threshold. In a
// dimension with a tail only hinges that hold a whole column are: their thresholds are below the
// clip.
func allPast(threshold, clip float64, above, orEqual bool, tail bool) bool {
	if tail {
		return above && !orEqual && threshold < -clip
	}
	return above && threshold < -clip || !above && threshold > clip
}

// past is Past of dimension j of the column.
func (c *Column) past(j int, threshold float64, above, orEqual bool) string {
	if words, ok := c.either(j, above); ok {
		return words
	}
	sign := "<"
	if above {
		sign = ">"
	}
	if orEqual {
		sign = map[string]string{"<": "≤", ">": "≥"}[sign]
	}
	return fmt.Sprintf("%s %s %s", c.dimensionName(j), sign, c.value(j, threshold))
}

// either describes a dimension that has only two values.
func (c *Column) either(j int, is bool) (words string, ok bool) {
	choose := func(yes, no string) (string, bool) {
		if is {
			return c.Name + yes, true
		}
		return c.Name + no, true
	}
	if _, ok := c.isEffect(j); ok {
		return "", false
	}
	switch {
	case c.Missing && j == c.Width-1:
		return choose(" is missing", " is present")
	case c.Kind == Category && j >= c.values():
		return choose(" is none of the common values", " is one of the common values")
	case c.Kind == Category:
		return choose(" = "+c.Categories[j], " ≠ "+c.Categories[j])
	case c.Kind == Bool:
		return choose(" = true", " = false")
	}
	return "", false
}

// value is a threshold in the column's own unit.
func (c *Column) value(j int, threshold float64) string {
	if j < len(c.Scale) {
		threshold = c.Mean[j] + threshold*c.Scale[j]
	}
	if j >= c.values() { // of a cycle, or an effect
		if cycle := c.elapsed(j); cycle != nil {
			return cycle.value(threshold)
		}
		return fmt.Sprintf("%.3g", threshold)
	}
	at := time.Unix(0, 0).UTC().Add(time.Duration(threshold * float64(time.Second)))
	switch {
	case c.Kind == Clock:
		return at.Format("15:04")
	case c.Kind == Time && j < len(c.Scale) && c.Scale[j] > 10*secondsOfDay:
		return at.Format(time.DateOnly)
	case c.Kind == Time:
		return at.Format("2006-01-02 15:04")
	}
	return fmt.Sprintf("%.5g", threshold)
}

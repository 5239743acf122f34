package encoder

import (
	"cmp"
	"fmt"
	"strconv"
)

// LeftOut is a column that is not a feature, although it could have been selected.
type LeftOut struct {
	Column string `json:"column"`
	Reason string `json:"reason"`
}

// Grouping is an identifier whose values recur.
type Grouping struct {
	Column string `json:"column"`
	// Repeats is the share of rows that have the value of an earlier row.
	Repeats float64 `json:"repeats"`
}

// GroupNote is a sentence about identifiers whose values recur, or "". An identifier that recurs
// because rows are copied, of which this share equals an earlier row, does not count.
func (r *Report) GroupNote(copies float64) string {
	const beyondCopies = 0.05
	var quoted []string
	first := ""
	for _, of := range r.Groups {
		if of.Repeats > copies+beyondCopies {
			quoted = append(quoted, strconv.Quote(of.Column))
			first = cmp.Or(first, of.Column)
		}
	}
	if len(quoted) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"values of the identifier %s recur: if rows of one value resemble each other, as those of a customer "+
			"may, errors on held-out rows are too low; events.group (--group %s) holds rows of one value out together",
		listed(quoted, ", "),
		first,
	)
}

// Report holds the findings of a calibration, for people.
type Report struct {
	// Rows is the number of calibration rows, Labelled how many of them had a usable label.
	Rows     int64 `json:"rows"`
	Labelled int64 `json:"labelled"`
	// LeftOut are the columns that could not be features, in record order, with the reason.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Groups are identifiers whose values recur, such as the numbers of customers: the rows of one
	// value may resemble each other.
	Groups []Grouping `json:"groups,omitempty"`
	// Columns are all columns of the first record, in its order, with the use of each.
	Columns []ColumnUse `json:"columns,omitempty"`
	// Constant are the dimensions with one value throughout; they have scale 1.
	Constant []string `json:"constant,omitempty"`
	// NonFinite is the number of feature values that were NaN, infinite or too large to average.
	// They are not in the moments, and their rows are rejected.
	NonFinite int64 `json:"non_finite,omitempty"`
	// UnseenClass is the number of rows whose class is not in the configured list.
	UnseenClass int64 `json:"unseen_class,omitempty"`
	// ClassNote is the warning about classes of the explored rows that are not learned, or "".
	ClassNote string `json:"class_note,omitempty"`
	// Telltales are columns that predict the label nearly alone.
	Telltales []Telltale `json:"telltales,omitempty"`
	// Warnings are whole sentences about possible surprises.
	Warnings []string `json:"warnings,omitempty"`
}

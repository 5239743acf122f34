package arrowio

import (
	"math"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Outside lists the values of an event message that this package bounds, with the default limits.
func Outside() []outside.Source {
	l := DefaultLimits()
	return []outside.Source{{
		Name:   "Arrow messages",
		Where:  "`events` and every topic with Arrow messages; files; `POST` bodies",
		Writer: "producers",
		Beyond: "the message becomes a dead letter, with `too_large`, `corrupt`, `over_budget` or another reason",
		Values: []outside.Value{
			{Name: "bytes of a message (`limits.max_message_bytes`)", Shape: outside.WholeOf(l.MaxMessageBytes)},
			{Name: "memory to decode it (`limits.budget_bytes`)", Shape: outside.WholeOf(l.BudgetBytes)},
			{Name: "rows, and entries of a dictionary (`limits.max_rows`)", Shape: outside.WholeOf(int64(l.MaxRows))},
			{Name: "columns with their children (`limits.max_columns`)", Shape: outside.WholeOf(int64(l.MaxColumns))},
			{Name: "values of a column", Shape: &outside.Shape{Kind: outside.Real, Low: math.Inf(-1), High: math.Inf(1)}},
		},
	}}
}

package pipeline

import (
	"math"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Outside lists the values of a record that a broker passes on, apart from its value.
func Outside() []outside.Source {
	return []outside.Source{{
		Name: "records", Where: "every topic", Writer: "producers, the broker",
		Beyond: "the batch is skipped as unreadable and counted; an unknown time is counted", Values: []outside.Value{
			{Name: "offset", Shape: outside.WholeOf(math.MaxInt64)},
			{Name: "timestamp", Shape: &outside.Shape{Kind: outside.Time}},
			{Name: "key, value and headers (`kafka.batch_budget_bytes` for a batch)", Shape: outside.TextOf(64 << 20)},
		},
	}}
}

package meter

import "github.com/eerf-stream/eerf/internal/outside"

// Outside lists the trace headers, which any producer may write.
func Outside() []outside.Source {
	return []outside.Source{{
		Name:   "headers of traces",
		Where:  "`events`, `features`",
		Writer: "producers",
		Beyond: "the trace is not continued",
		Values: []outside.Value{
			{Name: headerTraceParent, Shape: outside.TextOf(55)},
			{Name: headerTraceState, Shape: outside.TextOf(32 * 514)}, // 32 members
		},
	}}
}

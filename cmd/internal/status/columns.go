package status

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// columnsListed bounds the table of columns, so that the page stays readable.
const columnsListed = 200

// columnTableOf returns the use of the columns of the events in the current set; nil if the set
// does not tell. If not all are listed, columns that are left out or odd come first.
func columnTableOf(set *state.Set, now meter.ColumnReport) *ColumnTable {
	if set == nil || len(set.Set.Lineage.Columns) == 0 {
		return nil
	}
	columns := set.Set.Lineage.Columns
	out := &ColumnTable{FeatureSet: set.ID}
	if now.FeatureSet == set.ID {
		out.Watched = true
		out.Imputed = now.Imputed[:min(len(now.Imputed), columnsListed)]
		out.NewFields = now.NewFields
	}
	for _, c := range columns {
		switch c.Use {
		case encoder.UseFeature:
			out.Features++
		case encoder.UseLeftOut:
			out.LeftOut++
		}
	}
	out.Others = max(0, len(columns)-columnsListed)
	if out.Others > 0 {
		columns = slices.Clone(columns)
		slices.SortStableFunc(columns, func(a, b encoder.ColumnUse) int { return oddness(b) - oddness(a) })
		columns = columns[:columnsListed]
	}
	out.Listed = columns
	return out
}

// oddness orders columns by the attention that they need.
func oddness(c encoder.ColumnUse) int {
	switch {
	case c.Use == encoder.UseLeftOut:
		return 2
	case c.Reason != "":
		return 1
	}
	return 0
}

package status

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// columnsListed bounds the table of columns, so that the page stays readable.
const columnsListed = 200

// columnTableOf says what became of the columns of the events in the set in use; nil if the set does not say. If not all are listed,
// columns that are left out or odd come first.
func columnTableOf(set *state.Set, now meter.ColumnReport) *ColumnTable {
	if set == nil || len(set.Set.Lineage.Columns) == 0 {
		return nil
	}
	columns := set.Set.Lineage.Columns
	out := &ColumnTable{FeatureSet: set.ID}
	if now.FeatureSet == set.ID {
		out.Watched, out.Imputed, out.NewFields = true, now.Imputed[:min(len(now.Imputed), columnsListed)], now.NewFields
	}
	for _, c := range columns {
		switch c.Use {
		case encoder.UseFeature:
			out.Features++
		case encoder.UseLeftOut:
			out.LeftOut++
		}
	}
	if out.Others = max(0, len(columns)-columnsListed); out.Others > 0 {
		columns = slices.Clone(columns)
		slices.SortStableFunc(columns, func(a, b encoder.ColumnUse) int { return oddness(b) - oddness(a) })
		columns = columns[:columnsListed]
	}
	out.Listed = columns
	return out
}

// oddness is how much attention a column needs.
func oddness(c encoder.ColumnUse) int {
	switch {
	case c.Use == encoder.UseLeftOut:
		return 2
	case c.Reason != "":
		return 1
	}
	return 0
}

package status

import (
	"fmt"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// If there are many columns, odd ones come first, the others in order.
func TestColumnTable(t *testing.T) {
	set := &state.Set{ID: "fs-1", Set: &wire.FeatureSet{}}
	if columnTableOf(nil) != nil || columnTableOf(set) != nil {
		t.Error("a table of no columns")
	}
	columns := make([]encoder.ColumnUse, columnsListed+50)
	for i := range columns {
		columns[i] = encoder.ColumnUse{Column: fmt.Sprint("c", i), Use: encoder.UseFeature}
	}
	columns[columnsListed+9].Use = encoder.UseLeftOut
	columns[columnsListed+3].Reason = "odd"
	columns[2].Use = encoder.UseLabel
	set.Set.Lineage.Columns = columns
	have := columnTableOf(set)
	if have.FeatureSet != "fs-1" || have.Features != columnsListed+48 || have.LeftOut != 1 || have.Others != 50 || len(have.Listed) != columnsListed {
		t.Errorf("%d features, %d left out, %d listed, %d others", have.Features, have.LeftOut, len(have.Listed), have.Others)
	}
	for i, want := range []string{fmt.Sprint("c", columnsListed+9), fmt.Sprint("c", columnsListed+3), "c0", "c1"} {
		if have.Listed[i].Column != want {
			t.Errorf("column %d is %s, want %s", i, have.Listed[i].Column, want)
		}
	}
	set.Set.Lineage.Columns = columns[:columnsListed]
	if have := columnTableOf(set); have.Others != 0 || have.Listed[0].Column != "c0" {
		t.Errorf("%d others, the first is %s", have.Others, have.Listed[0].Column)
	}
}

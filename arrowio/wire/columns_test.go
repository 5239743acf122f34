package wire

import (
	"reflect"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// exampleColumns is a report on columns.
func exampleColumns() []encoder.ColumnUse {
	return []encoder.ColumnUse{
		{Column: "age", Type: "float64", Use: encoder.UseFeature, Kind: encoder.Numeric, Dims: 2, Missing: 0.125},
		{
			Column:   "city",
			Type:     "utf8",
			Use:      encoder.UseFeature,
			Kind:     encoder.Category,
			Dims:     51,
			Distinct: 900,
			Kept:     50,
			Other:    0.4,
			Reason:   "the 50 commonest of 900 values",
		},
		{Column: "customer", Type: "utf8", Use: encoder.UsePassthrough},
		{Column: "<key>", Type: "int64", Use: encoder.UseLeftOut, Reason: "it looks like an identifier"},
	}
}

// The report is part of the spec and the set, but neither hash nor ID depends on it.
func TestColumnReportIsNotHashed(t *testing.T) {
	spec, set := exampleSpec(), exampleFeatureSet()
	hash, id := spec.Hash(), set.ID()
	plainSpec, plainSet := len(must(EncodeSpec(spec))), len(must(EncodeFeatureSet(set)))
	spec.Columns, set.Lineage.Columns = exampleColumns(), exampleColumns()
	if spec.Hash() != hash || set.ID() != id {
		t.Errorf("hash %s, id %s, want %s and %s", spec.Hash(), set.ID(), hash, id)
	}
	specBytes, setBytes := must(EncodeSpec(spec)), must(EncodeFeatureSet(set))
	if got := must(DecodeSpec(specBytes)); !reflect.DeepEqual(got.Columns, spec.Columns) {
		t.Errorf("columns of the spec %+v", got.Columns)
	}
	if got := must(DecodeFeatureSet(newDecoder(), setBytes)); !reflect.DeepEqual(got.Lineage.Columns, spec.Columns) {
		t.Errorf("columns of the set %+v", got.Lineage.Columns)
	}
	if bound := int(ColumnsBytes(spec.Columns)); len(specBytes)-plainSpec > bound || len(setBytes)-plainSet > bound {
		t.Errorf("%d and %d bytes, the bound is %d", len(specBytes)-plainSpec, len(setBytes)-plainSet, bound)
	}
}

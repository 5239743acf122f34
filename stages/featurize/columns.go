package featurize

import (
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/meter"
)

// takeColumns returns the observations of event columns since the last call.
func (f *Featurizer) takeColumns() meter.Columns {
	seen := meter.Columns{FeatureSet: f.set.id, Strays: f.reader.TakeStrays()}
	seen.Rows, seen.Imputed = imputedIn(&f.rows, f.set.missing)
	return seen
}

// imputedIn returns the number of rows encoded since the last call, and the imputed values by
// column. Without expected shares the list is empty.
func imputedIn(rows *encoder.Rows, expected []float64) (n int64, found []meter.Imputed) {
	n, values := rows.TakeImputed()
	for i, share := range expected[:min(len(expected), len(values))] {
		found = append(found, meter.Imputed{
			Column:   values[i].Column,
			Values:   values[i].Values,
			Imputed:  values[i].Imputed,
			Expected: share,
		})
	}
	return n, found
}

// columnsOf returns the shares of missing values of a set's feature columns in calibration, and the
// names of the event columns; nil if the set lacks them.
func columnsOf(set *wire.FeatureSet) (missing []float64, known []string) {
	shares := make(map[string]float64)
	for _, c := range set.Lineage.Columns {
		known, shares[c.Column] = append(known, c.Column), c.Missing
	}
	if known == nil {
		return nil, nil
	}
	for i := range set.Encoder.Columns {
		missing = append(missing, shares[set.Encoder.Columns[i].Name])
	}
	return missing, known
}

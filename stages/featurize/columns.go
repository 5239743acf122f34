package featurize

import (
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/meter"
)

// takeColumns returns what was seen of the columns of events since the last call.
func (f *Featurizer) takeColumns() meter.Columns {
	seen := meter.Columns{FeatureSet: f.id, Strays: f.reader.TakeStrays()}
	seen.Rows, seen.Imputed = imputedIn(&f.rows, f.expected)
	return seen
}

// imputedIn returns how many rows were encoded since the last call, and what was imputed in them; nothing if it is not known
// what to expect.
func imputedIn(rows *encoder.Rows, expected []float64) (n int64, found []meter.Imputed) {
	n, values := rows.TakeImputed()
	for i, share := range expected[:min(len(expected), len(values))] {
		found = append(found, meter.Imputed{Column: values[i].Column, Values: values[i].Values, Imputed: values[i].Imputed, Expected: share})
	}
	return n, found
}

// columnsOf returns the shares of missing values of a set's feature columns in calibration, and the names of the columns that the
// events had; nil if the set does not say.
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

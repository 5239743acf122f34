package main

import "fmt"

// keptFeatures is what a set's features say about whether more of them would help.
type keptFeatures struct {
	features   int
	aboveNoise int   // of them; meaningless if they were learned
	sampleRows int64 // rows that they were chosen on
	learned    bool
}

// note warns of features that may be chance; empty if there is nothing to warn of.
func (k keptFeatures) note() string {
	if k.growing() {
		return ""
	}
	return fmt.Sprintf("%d of the %d features are not above the noise level of %d rows: score more rows (--sample) or keep fewer features (--features)",
		k.features-k.aboveNoise, k.features, k.sampleRows)
}

// growing reports whether more features may help: hardly any of the present ones is chance.
func (k keptFeatures) growing() bool { return k.learned || 10*(k.features-k.aboveNoise) <= k.features }

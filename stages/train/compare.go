package train

import (
	"errors"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// heldOutRows are rows held out from the fit, with labels coded as for selection.
type heldOutRows struct {
	ids  []training.RowID
	z, y []float32 // [rows·M], [rows·K]
}

// heldOut returns the held-out rows of cells on which the incumbent was not fitted either, in the
// order of their hashes.
func (t *Trainer) heldOut(cells []aged, withSeen bool, incumbent *wire.Model) heldOutRows {
	sample := t.heldOutOf(cells, withSeen)
	ids := sample.IDs()
	z, y, _ := sample.Rows()
	n := max(1, len(ids))
	m, k := len(z)/n, len(y)/n
	kept := 0
	for i, id := range ids {
		if incumbent.HeldOut(id) {
			ids[kept] = id
			copy(z[kept*m:(kept+1)*m], z[i*m:])
			copy(y[kept*k:(kept+1)*k], y[i*k:])
			kept++
		}
	}
	return heldOutRows{ids[:kept], z[:kept*m], y[:kept*k]}
}

// predictCoded returns the outputs of a model on the trainer's features, as the trainer codes them.
func (t *Trainer) predictCoded(model *training.Model, rows heldOutRows) []float32 {
	coded := make([]float32, len(rows.ids)*t.outputs)
	t.recoded(model).Predict(coded, rows.z, len(rows.ids))
	return coded
}

// errNotMeasurable reports a challenger without a finite error on rows on which the incumbent has
// one.
var errNotMeasurable = errors.New("the error of the new model is not a number")

// compare measures a challenger and the incumbent on the same rows and records the result in j.
// Regression labels are compared as they are learned, for example as logarithms. An error is the
// reason why the models are not compared.
func (t *Trainer) compare(j *wire.Judgement, challenger, incumbent *wire.Model) error {
	if challenger.Judged == nil {
		return errors.New("either no rows are held out, or all are")
	}
	withSeen := challenger.Metrics.Seen != nil
	judging := t.judging(t.agedCells(), withSeen, challenger.Metrics.HalfLife)
	rows := t.heldOut(judging, withSeen, incumbent)
	for i, c := range judging {
		if i == 0 || c.oldest.Before(j.From) {
			j.From = c.oldest
		}
		if c.newest.After(j.To) {
			j.To = c.newest
		}
	}
	if len(rows.ids) == 0 {
		return errors.New("no held-out row is new to both models")
	}
	ours, theirs := t.predictCoded(challenger.Judged, rows), t.predictCoded(incumbent.Judged, rows)
	j.Rows, j.Measure = int64(len(rows.ids)), t.measure
	if t.measure == training.MeasureLogLoss && incumbent.Model.Loss != training.LossLogistic {
		j.Measure = training.MeasureMisclassification // it has no probabilities
	}
	found := training.PairedBy(j.Measure, ours, theirs, rows.y, t.outputs)
	j.ChallengerError, j.IncumbentError = wire.Measured(found.First), wire.Measured(found.Second)
	j.StandardError = wire.Measured(found.StandardError)
	switch {
	case j.ChallengerError == nil && j.IncumbentError != nil:
		return errNotMeasurable
	case !j.Compared():
		return errors.New("the error of the current model is not a number")
	}
	return nil
}

package train

import (
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// heldOutRows are rows held out from the fit, with labels as they are coded for selection.
type heldOutRows struct {
	ids  []training.RowID
	z, y []float32 // [rows·M], [rows·K]
}

// heldOut returns up to most rows (0 = all) of the evaluation samples of all partitions, in hash order, on which
// neither the new challenger nor the incumbent was fitted.
func (t *Trainer) heldOut(challenger, incumbent *wire.Model, most int) heldOutRows {
	sample := t.evaluationOf(challenger.Metrics.Seen != nil)
	z, y, _ := sample.Rows()
	return heldOutRows{sample.IDs(), z, y}.only(t.set.Set.Features.Len(), t.outputs, func(_ int, id training.RowID, kept int) bool {
		return (most == 0 || kept < most) && incumbent.HeldOut(id)
	})
}

// only keeps some of the rows, in order. keep gets how many rows are kept so far.
func (h heldOutRows) only(m, k int, keep func(i int, id training.RowID, kept int) bool) heldOutRows {
	kept := 0
	for i, id := range h.ids {
		if keep(i, id, kept) {
			h.ids[kept] = id
			copy(h.z[kept*m:(kept+1)*m], h.z[i*m:])
			copy(h.y[kept*k:(kept+1)*k], h.y[i*k:])
			kept++
		}
	}
	return heldOutRows{h.ids[:kept], h.z[:kept*m], h.y[:kept*k]}
}

// baseline predicts the coded outputs of held-out rows with a model that a challenger is compared with. It leaves out
// rows that it cannot predict.
type baseline func(rows heldOutRows) (left heldOutRows, coded []float32, err error)

// sameSet is the baseline of a model on the trainer's own features.
func (t *Trainer) sameSet(model *wire.Model) baseline {
	return func(rows heldOutRows) (heldOutRows, []float32, error) {
		return rows, t.predictCoded(t.recoded(model.Judged), rows), nil
	}
}

func (t *Trainer) predictCoded(coded *training.Model, rows heldOutRows) []float32 {
	pred := make([]float32, len(rows.ids)*t.outputs)
	coded.Predict(pred, rows.z, len(rows.ids))
	return pred
}

// compare measures a challenger and the incumbent on the same rows, up to most (0 = all), and records the result in j.
// Regression labels are compared as they are learned: as logarithms, if that is the transform.
func (t *Trainer) compare(j *wire.Judgement, challenger, incumbent *wire.Model, against baseline, most int) error {
	switch {
	case challenger.Judged == nil:
		j.NotCompared = "no rows are held out, or no others are there"
		return nil
	case incumbent.Judged == nil:
		j.NotCompared = "the model in use comes without the weights that it is to be judged by"
		return nil
	}
	rows, theirs, err := against(t.heldOut(challenger, incumbent, most))
	if err != nil {
		return err
	}
	if len(rows.ids) == 0 {
		j.NotCompared = "no held-out row is there that neither was fitted on and both can predict"
		return nil
	}
	ours := t.predictCoded(t.recoded(challenger.Judged), rows)
	j.Rows, j.Measure = int64(len(rows.ids)), training.MeasureMisclassification
	compared := training.PairedMisclassification
	if t.set.Task == scoring.Regression {
		j.Measure, compared = training.MeasureUnexplainedVariance, training.PairedUnexplainedVariance
	}
	errors := compared(ours, theirs, rows.y, t.outputs)
	j.ChallengerError, j.IncumbentError = wire.Measured(errors.First), wire.Measured(errors.Second)
	j.StandardError = wire.Measured(errors.StandardError)
	if !j.Compared() {
		j.NotCompared = "an error is not a number"
	}
	return nil
}

package train

import (
	"context"
	"errors"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// heldOutRows are rows held out from the fit, with labels as they are coded for selection.
type heldOutRows struct {
	ids  []training.RowID
	z, y []float32 // [rows·M], [rows·K]
}

// heldOut returns the held-out rows of cells, in hash order, on which the incumbent was not fitted either.
func (t *Trainer) heldOut(cells []aged, withSeen bool, incumbent *wire.Model) heldOutRows {
	sample := t.heldOutOf(cells, withSeen)
	z, y, _ := sample.Rows()
	rows := heldOutRows{sample.IDs(), z, y}
	return rows.only(func(i int) bool { return incumbent.HeldOut(rows.ids[i]) })
}

// only keeps some of the rows, in order. It reuses their memory.
func (h heldOutRows) only(keep func(i int) bool) heldOutRows {
	n := max(1, len(h.ids))
	m, k, kept := len(h.z)/n, len(h.y)/n, 0
	for i, id := range h.ids {
		if keep(i) {
			h.ids[kept] = id
			copy(h.z[kept*m:(kept+1)*m], h.z[i*m:])
			copy(h.y[kept*k:(kept+1)*k], h.y[i*k:])
			kept++
		}
	}
	return heldOutRows{h.ids[:kept], h.z[:kept*m], h.y[:kept*k]}
}

// opponent predicts with the model that a challenger is compared with.
type opponent interface {
	// predict returns the outputs for each row as the trainer codes them; nil for a row that it cannot predict.
	predict(ctx context.Context, rows heldOutRows) ([][]float32, error)
}

// sameSet predicts with a model on the trainer's own features.
type sameSet struct {
	*Trainer
	model *wire.Model
}

func (s sameSet) predict(_ context.Context, rows heldOutRows) ([][]float32, error) {
	return slices.Collect(slices.Chunk(s.predictCoded(s.model.Judged, rows), s.outputs)), nil
}

// predictCoded returns the outputs of a model on the trainer's features, as the trainer codes them.
func (t *Trainer) predictCoded(model *training.Model, rows heldOutRows) []float32 {
	coded := make([]float32, len(rows.ids)*t.outputs)
	t.recoded(model).Predict(coded, rows.z, len(rows.ids))
	return coded
}

// compare measures a challenger and the incumbent on the same rows, up to most (0 = all), and records the result in j.
// Regression labels are compared as they are learned: as logarithms, if that is the transform. An error says why they
// are not compared.
func (t *Trainer) compare(ctx context.Context, j *wire.Judgement, challenger, incumbent *wire.Model, against opponent, most int) error {
	if challenger.Judged == nil {
		return errors.New("no rows are held out, or there are no others")
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
	if most > 0 {
		rows = rows.only(func(i int) bool { return i < most })
	}
	predicted, err := against.predict(ctx, rows)
	if err != nil {
		return err
	}
	rows = rows.only(func(i int) bool { return predicted[i] != nil })
	if len(rows.ids) == 0 {
		return errors.New("there is no held-out row that neither was fitted on and both can predict")
	}
	ours, theirs := t.predictCoded(challenger.Judged, rows), slices.Concat(predicted...)
	j.Rows, j.Measure = int64(len(rows.ids)), training.MeasureMisclassification
	compared := training.PairedMisclassification
	if t.set.Task == scoring.Regression {
		j.Measure, compared = training.MeasureUnexplainedVariance, training.PairedUnexplainedVariance
	}
	found := compared(ours, theirs, rows.y, t.outputs)
	j.ChallengerError, j.IncumbentError = wire.Measured(found.First), wire.Measured(found.Second)
	j.StandardError = wire.Measured(found.StandardError)
	if !j.Compared() {
		return errors.New("an error is not a number")
	}
	return nil
}

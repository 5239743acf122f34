package train

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/training"
)

// TestErrors are the measures of a model on rows on which it was not trained. The relative squared
// error is that of regression labels coded for selection, in [-1, 1]: the figure of the paper,
// which depends on the place of zero. The constant predictor is the best constant for these rows.
type TestErrors struct {
	Rows int64 `json:"rows"`
	training.Measures
}

// Error returns the misclassification or the unexplained variance, in percent.
func (e TestErrors) Error() float64 {
	if v, _ := e.Percent(); v != nil {
		return *v
	}
	return 0
}

// Evaluate measures a model on the labelled rows of some batches.
func Evaluate(set *wire.FeatureSet, model *wire.Model, batches []arrow.Record) (TestErrors, error) {
	e := newEvaluation(set, model)
	for _, batch := range batches {
		err := events.EachChunk(batch, set.Encoder.Dim, func(_ int64, chunk arrow.Record) error { return e.add(chunk) })
		if err != nil {
			return TestErrors{}, fmt.Errorf("evaluate: %w", err)
		}
	}
	return e.errors(), nil
}

// evaluation is a model with its errors so far.
type evaluation struct {
	set        *wire.FeatureSet
	model      *training.Model // of coded labels
	transform  *scoring.Transformer
	coding     scoring.Coding
	regression *training.Regression
	classes    *training.Classification
	rows       encoder.Rows // reused
}

func newEvaluation(set *wire.FeatureSet, model *wire.Model) *evaluation {
	coding := LabelCoding(set)
	e := &evaluation{
		set:       set,
		model:     recode(model.Model, set, coding),
		transform: scoring.NewTransformer(&set.Set),
		coding:    coding,
	}
	if label := set.Encoder.Label; set.Task == scoring.Regression {
		// The offset is the coded calibration mean.
		e.regression = training.NewRegression(coding.Offset).InUnits(labelUnits(coding, label))
	} else {
		e.classes = training.NewClassification(label.Outputs(), training.CommonestOfRows)
		e.classes.Logits = model.Model.Loss == training.LossLogistic
	}
	return e
}

func (e *evaluation) add(batch arrow.Record) error {
	rows := &e.rows
	if err := e.set.Encoder.Encode(rows, batch, nil); err != nil {
		return err
	}
	unseen := int64(0)
	for _, unknown := range rows.Unseen {
		if unknown {
			unseen++
		}
	}
	rows.KeepLabelled()
	z := make([]float32, rows.N*e.transform.Len())
	e.transform.Transform(z, rows.X[:rows.N*rows.Dim], rows.N)
	predicted := make([]float32, rows.N*e.model.Outputs)
	e.model.Predict(predicted, z, rows.N)
	var y []float32
	for i := range rows.N {
		y = codeLabel(y, e.set, rows.Targets, i, e.coding.Gain, e.coding.Offset)
	}
	if e.set.Task == scoring.Regression {
		e.regression.Add(predicted, y, rows.N)
	} else {
		e.classes.AddCoded(predicted, y, rows.N)
		e.classes.AddUnknown(unseen)
	}
	return nil
}

func (e *evaluation) errors() TestErrors {
	if e.set.Task == scoring.Regression {
		return TestErrors{Rows: e.regression.Rows, Measures: e.regression.Measures()}
	}
	measures := e.classes.Measures()
	measures.NameClasses(e.set.Encoder.Label.Classes)
	return TestErrors{Rows: e.classes.Rows, Measures: measures}
}

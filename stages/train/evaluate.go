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

// TestErrors are the measures of a model on rows that it was not trained on. The relative squared error is that of
// regression labels coded for selection, in [-1, 1]: the paper's figure, which depends on where zero is. The constant
// predictor is that of these rows.
type TestErrors struct {
	Rows int64 `json:"rows"`
	training.Measures
}

// Error is the figure by which models are compared: misclassification or unexplained variance.
func (e TestErrors) Error() float64 {
	if _, v, _ := e.Main(); v != nil {
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
	model      *training.Model
	transform  *scoring.Transformer
	encoder    events.RowEncoder
	coding     scoring.Coding
	regression *training.Regression
	classes    *training.Classification
	rows       encoder.Rows // reused
}

func newEvaluation(set *wire.FeatureSet, model *wire.Model) *evaluation {
	coding := LabelCoding(set)
	transform, rows := events.NewTransformer(set)
	e := &evaluation{set: set, model: model.Model, transform: transform, encoder: rows, coding: coding}
	if label := set.Encoder.Label; set.Task == scoring.Regression {
		e.regression = training.NewRegression(coding.Offset).InUnits(labelUnits(coding, label)) // the calibration mean, coded
	} else {
		e.classes = training.NewClassification(label.Outputs(), training.CommonestOfRows)
		e.classes.Logits = model.Model.Loss == training.LossLogistic
	}
	return e
}

func (e *evaluation) add(batch arrow.Record) error {
	rows := &e.rows
	if err := e.encoder.Encode(rows, batch, nil); err != nil {
		return err
	}
	outputs := e.set.Encoder.Outputs()
	z := make([]float32, rows.N*e.transform.Len())
	e.transform.Transform(z, rows.X[:rows.N*rows.Dim], rows.N)
	predicted := make([]float32, rows.N*outputs)
	e.model.Predict(predicted, z, rows.N)
	for i := range rows.N {
		if rows.Labelled[i] {
			e.addRow(predicted[i*outputs:(i+1)*outputs], i)
		}
	}
	return nil
}

// addRow adds the prediction for row i of the encoded rows.
func (e *evaluation) addRow(predicted []float32, i int) {
	targets, outputs := e.rows.Targets, len(predicted)
	switch e.set.Task {
	case scoring.MultiClass:
		e.classes.Add(predicted, targets.Class[i:i+1])
	case scoring.Binary:
		e.classes.AddCoded(predicted, targets.Values[i:i+1], 1)
	case scoring.Regression:
		mean := e.set.Encoder.Label.Mean
		e.regression.Add(codePredictions(predicted, e.coding, mean), codeLabels(targets.Values[i*outputs:(i+1)*outputs], e.coding), 1)
	}
}

func (e *evaluation) errors() TestErrors {
	if e.set.Task == scoring.Regression {
		return TestErrors{Rows: e.regression.Rows, Measures: e.regression.Measures()}
	}
	measures := e.classes.Measures()
	measures.NameClasses(e.set.Encoder.Label.Classes)
	return TestErrors{Rows: e.classes.Rows, Measures: measures}
}

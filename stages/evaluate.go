package stages

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// TestErrors are the errors of a model on rows that it was not trained on, in percent. The relative squared error is that
// of regression labels as they are coded for selection, in [-1, 1]: the paper's figure, which depends on where zero is.
type TestErrors struct {
	Rows                 int64    `json:"rows"`
	Misclassification    *float64 `json:"misclassification,omitempty"`
	UnexplainedVariance  *float64 `json:"unexplained_variance,omitempty"`
	RelativeSquaredError *float64 `json:"relative_squared_error,omitempty"`
}

// Error is the figure that models are compared by: misclassification, or unexplained variance.
func (e TestErrors) Error() float64 {
	if e.Misclassification != nil {
		return *e.Misclassification
	}
	if e.UnexplainedVariance != nil {
		return *e.UnexplainedVariance
	}
	return 0
}

// Evaluate measures a model on the labelled rows of some batches.
func Evaluate(set *wire.FeatureSet, model *wire.Model, batches []arrow.Record) (TestErrors, error) {
	outputs := set.Encoder.Outputs()
	transform := scoring.NewTransformer(&set.Set)
	regression := training.NewRegression(set.Coding.Offset) // the calibration mean, coded
	classes := training.NewClassification(outputs, 0)
	var rows encoder.Rows
	for _, batch := range batches {
		if err := set.Encoder.Encode(&rows, batch, nil); err != nil {
			return TestErrors{}, fmt.Errorf("evaluate: %w", err)
		}
		z := make([]float32, rows.N*transform.Len())
		transform.Transform(z, rows.X[:rows.N*rows.Dim], rows.N)
		predicted := make([]float32, rows.N*outputs)
		model.Model.Predict(predicted, z, rows.N)
		for i := range rows.N {
			if !rows.Labelled[i] {
				continue
			}
			one := predicted[i*outputs : (i+1)*outputs]
			switch set.Task {
			case scoring.MultiClass:
				classes.Add(one, rows.Targets.Class[i:i+1])
			case scoring.Binary:
				classes.AddCoded(one, rows.Targets.Values[i:i+1], 1)
			default:
				label := rows.Targets.Values[i*outputs : (i+1)*outputs]
				regression.Add(codePredictions(one, set), codeLabels(label, set.Coding), 1)
			}
		}
	}
	if set.Task != scoring.Regression {
		return TestErrors{Rows: classes.Rows, Misclassification: wire.Measured(classes.Misclassification())}, nil
	}
	return TestErrors{
		Rows: regression.Rows, UnexplainedVariance: wire.Measured(regression.UnexplainedVariance()),
		RelativeSquaredError: wire.Measured(regression.RelativeSquaredError()),
	}, nil
}

// codeLabels codes one row of a regression's labels, which are about their calibration mean, as for selection.
func codeLabels(label []float32, coding scoring.Coding) []float32 {
	coded := make([]float32, len(label))
	for k, v := range label {
		coded[k] = float32(coding.Gain[k]*float64(v) + coding.Offset[k])
	}
	return coded
}

// codePredictions does the same with predictions in the units of the label.
func codePredictions(predicted []float32, set *wire.FeatureSet) []float32 {
	coded := make([]float32, len(predicted))
	for k, v := range predicted {
		coded[k] = float32(set.Coding.Gain[k]*(float64(v)-set.Encoder.Label.Mean[k]) + set.Coding.Offset[k])
	}
	return coded
}

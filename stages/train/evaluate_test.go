package train

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

func TestEvaluate(t *testing.T) {
	for _, task := range stagestest.Tasks {
		t.Run(task, func(t *testing.T) {
			events := stagestest.Events(t, task, 600, 59, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1, UnseenClass: 0.05})
			batches := stagestest.Cut(t, events, stagestest.Every(200))
			set := featureSet(t, task, batches...)
			config := trainConfig()
			messages := featureMessages(t, set, batches, whole)
			model := solve(t, train(t, set, config, messages[:2]))
			got, err := Evaluate(set, model, batches[2:])
			if err != nil {
				t.Fatal(err)
			}
			rows := trainingRows(t, set, config, messages[2:])
			var wrong, residual, square, sum, n float64
			w := codedModel(set, model.Model)
			for _, r := range rows {
				f := make([]float64, w.Outputs)
				for k := range f {
					f[k] = predict(w.Theta[k*w.Features:(k+1)*w.Features], w.Intercept[k], r.z)
				}
				n++
				wrong += float64(stagestest.Bit(decide(f) != decide(r.y)))
				residual += (f[0] - r.y[0]) * (f[0] - r.y[0])
				square += r.y[0] * r.y[0]
				sum += r.y[0]
			}
			if got.Rows != int64(len(rows)) || len(rows) < 100 {
				t.Fatalf("%d rows measured, want %d", got.Rows, len(rows))
			}
			if task == stagestest.Regression {
				near(t, "unexplained variance", *got.UnexplainedVariance, 100*residual/(square-sum*sum/n), 0.01)
				near(t, "relative squared error", *got.RelativeSquaredError, 100*residual/square, 1e-3*100*residual/square)
				near(t, "the error", got.Error(), *got.UnexplainedVariance, 0)
				return
			}
			near(t, "misclassification", *got.Misclassification, 100*wrong/n, 1e-9)
			near(t, "the error", got.Error(), *got.Misclassification, 0)
		})
	}
}

// A model of logarithms is fitted to logarithms and measured in units of the label, on test rows and on held-out
// ones.
func TestModelsOfLogarithmsAreMeasuredInUnitsOfTheLabel(t *testing.T) {
	all := stagestest.Events(t, stagestest.Regression, 900, 61, stagestest.Faults{NoLabel: 0.1})
	batches := stagestest.Cut(t, all, stagestest.Every(300))
	events := explored.Events(stagestest.Regression)
	events.LabelTransform = encoder.TransformLog1p
	set := explored.FeatureSet(t, events, explored.Exploration(), batches...)
	config := trainConfig()
	messages := featureMessages(t, set, batches, whole)
	model := solve(t, train(t, set, config, messages[:2]))
	if model.Label.Transform != encoder.TransformLog1p {
		t.Fatalf("label %+v", model.Label)
	}
	got, err := Evaluate(set, model, batches[2:])
	if err != nil {
		t.Fatal(err)
	}
	var squares, absolute, mean, n float64
	var labels []float64
	out := readOutput(t, messages[2], model.Model.Features)
	column := out.body.Column(out.body.Schema().FieldIndices("y")[0]).(*array.Float64)
	for i := range out.rows {
		if column.IsNull(i) {
			continue
		}
		z := make([]float64, model.Model.Features)
		for j := range z {
			z[j] = float64(out.z[i*len(z)+j])
		}
		y := column.Value(i)
		d := math.Expm1(predict(model.Model.Theta, model.Model.Intercept[0], z)) - y
		squares, absolute, mean, n = squares+d*d, absolute+math.Abs(d), mean+y, n+1
		labels = append(labels, y)
	}
	centred := 0.0
	for _, y := range labels {
		centred += (y - mean/n) * (y - mean/n)
	}
	if got.Rows != int64(n) || n < 50 {
		t.Fatalf("%d rows measured, want %v", got.Rows, n)
	}
	near(t, "RMSE", got.RMSE[0], math.Sqrt(squares/n), 1e-4)
	near(t, "MAE", got.MAE[0], absolute/n, 1e-4)
	near(t, "unexplained variance", *got.UnexplainedVariance, 100*squares/centred, 0.01)
	if m := model.Metrics; m.R2 == nil || len(m.RMSE) != 1 || math.Abs(m.RMSE[0]/got.RMSE[0]-1) > 1 {
		t.Errorf("held-out measures %+v, on test rows RMSE %v", m.Measures, got.RMSE)
	}
}

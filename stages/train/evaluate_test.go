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
			all := config
			all.HeldOutFraction = 1
			known, unseen := float64(len(rows)), unseenHeldOut(t, set, all, messages[2:])
			if float64(got.Rows) != known+unseen || known < 100 {
				t.Fatalf("%d rows measured, want %v and %v of unknown classes", got.Rows, known, unseen)
			}
			wrong := naiveError(rows, set.Task, codedModel(set, model.Model))
			near(t, "error", got.Error(), (wrong*known+100*unseen)/(known+unseen), 0.01)
		})
	}
}

// A model of logarithms is fitted to logarithms and measured in units of the label, on test rows
// and on held-out ones.
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
	var squares, absolute, n float64
	out := readOutput(t, messages[2], model.Model.Features)
	column := out.body.Column(out.body.Schema().FieldIndices("y")[0]).(*array.Float64)
	for i := range out.rows {
		if column.IsNull(i) {
			continue
		}
		logarithm := predict(model.Model, out.z[i*model.Model.Features:(i+1)*model.Model.Features])[0]
		d := math.Expm1(float64(logarithm)) - column.Value(i)
		squares, absolute, n = squares+d*d, absolute+math.Abs(d), n+1
	}
	if got.Rows != int64(n) || n < 50 {
		t.Fatalf("%d rows measured, want %v", got.Rows, n)
	}
	near(t, "RMSE", got.RMSE[0], math.Sqrt(squares/n), 1e-3)
	near(t, "MAE", got.MAE[0], absolute/n, 1e-3)
	if m := model.Metrics; m.R2 == nil || len(m.RMSE) != 1 || math.Abs(m.RMSE[0]/got.RMSE[0]-1) > 1 {
		t.Errorf("held-out measures %+v, on test rows RMSE %v", m.Measures, got.RMSE)
	}
}

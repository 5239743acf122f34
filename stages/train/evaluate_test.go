package train

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/stages/stagestest"
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

func TestEvaluateOnNothing(t *testing.T) {
	events := stagestest.Events(t, stagestest.Regression, 200, 60, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, events)
	model := solve(t, train(t, set, trainConfig(), featureMessages(t, set, []arrow.Record{events}, whole)))
	got, err := Evaluate(set, model, nil)
	if err != nil || got.Rows != 0 || got.Error() != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
}

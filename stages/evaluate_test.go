package stages

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

func TestEvaluate(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			events := events(t, task, 600, 59, faults{badFeature: 0.05, noLabel: 0.1, unseenClass: 0.05})
			batches := cut(t, events, every(200))
			set := explore(t, testSettings(task), batches).Set
			config := trainConfig()
			messages := featureMessages(t, set, batches, 1<<20)
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
				wrong += float64(btoi(decide(f) != decide(r.y)))
				residual += (f[0] - r.y[0]) * (f[0] - r.y[0])
				square += r.y[0] * r.y[0]
				sum += r.y[0]
			}
			if got.Rows != int64(len(rows)) || len(rows) < 100 {
				t.Fatalf("%d rows measured, want %d", got.Rows, len(rows))
			}
			if task == taskRegression {
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
	events := events(t, taskRegression, 200, 60, faults{})
	set := explore(t, testSettings(taskRegression), []arrow.Record{events}).Set
	model := solve(t, train(t, set, trainConfig(), featureMessages(t, set, []arrow.Record{events}, 1<<20)))
	got, err := Evaluate(set, model, nil)
	if err != nil || got.Rows != 0 || got.Error() != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
}

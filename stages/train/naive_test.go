package train

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

func TestTrainerModelAgainstANaiveSolve(t *testing.T) {
	for _, task := range stagestest.Tasks {
		for _, intercept := range []bool{true, false} {
			t.Run(task+map[bool]string{true: ", intercept", false: ", no intercept"}[intercept], func(t *testing.T) {
				events := stagestest.Events(t, task, 900, 50, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1, UnseenClass: 0.05})
				set := featureSet(t, task, events)
				config := trainConfig()
				config.Intercept, config.LambdaGrid = intercept, "0.0001,0.001,0.01,0.1"
				messages := featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(80)), whole)
				rows := trainingRows(t, set, config, messages)
				var fit, held []trainingRow
				for _, r := range rows {
					if r.held {
						held = append(held, r)
					} else {
						fit = append(fit, r)
					}
				}
				model := solve(t, train(t, set, config, messages))
				if model.TrainRows != int64(len(rows)) || model.HeldOutRows != int64(len(held)) || len(held) < 100 {
					t.Fatalf("%d rows, %d held out; want %d, %d", model.TrainRows, model.HeldOutRows, len(rows), len(held))
				}
				checkWeights(t, codedModel(set, model.Model), rows, intercept)
				checkChoice(t, model, fit, held, intercept)
				checkMetrics(t, set.Task, model, fit, held, intercept)
			})
		}
	}
}

// checkWeights compares the model with the naive solve, on all rows, for its λ.
func checkWeights(t testing.TB, model *training.Model, rows []trainingRow, intercept bool) {
	t.Helper()
	for k := range model.Outputs {
		theta, theta0 := ridge(rows, k, model.Lambda, intercept)
		if !intercept {
			theta0 = 0
		}
		size := 1.0
		for _, v := range theta {
			size = max(size, math.Abs(v))
		}
		for j, want := range theta {
			near(t, "a weight", model.Theta[k*model.Features+j], want, 1e-4*size)
		}
		near(t, "the intercept", model.Intercept[k], theta0, 1e-4*size)
	}
}

// checkChoice computes the loss of every λ tried on the held-out rows.
func checkChoice(t testing.TB, model *wire.Model, fit, held []trainingRow, intercept bool) {
	t.Helper()
	least, losses := math.Inf(1), map[float64]float64{}
	for _, point := range model.Metrics.LambdaPath {
		loss := 0.0
		for k := range model.Model.Outputs {
			theta, theta0 := ridge(fit, k, point.Lambda, intercept)
			if !intercept {
				theta0 = 0
			}
			mean, square := 0.0, 0.0
			for _, r := range fit {
				mean += r.y[k] / float64(len(fit))
			}
			for _, r := range fit {
				square += (r.y[k] - mean) * (r.y[k] - mean) / float64(len(fit))
			}
			for _, r := range held {
				e := predict(theta, theta0, r.z) - r.y[k]
				loss += e * e / float64(len(held)) / square
			}
		}
		if point.HeldOutLoss == nil || point.GCV != nil {
			t.Fatalf("point %+v under rule %s", point, model.Metrics.LambdaRule)
		}
		near(t, "held-out loss", *point.HeldOutLoss, loss, 1e-4*loss)
		least, losses[point.Lambda] = min(least, loss), loss
	}
	most := least + 0.01*min(least, losses[slices.Max(slices.Collect(maps.Keys(losses)))]-least)
	best := 0.0 // the largest λ whose loss is as good as the least
	for lambda, loss := range losses {
		if loss <= most {
			best = max(best, lambda)
		}
	}
	if model.Metrics.LambdaRule != string(training.RuleHeldOut) || model.Model.Lambda != best {
		t.Errorf("lambda %v by %s, want %v", model.Model.Lambda, model.Metrics.LambdaRule, best)
	}
}

// checkMetrics measures the model of the chosen λ that has not seen the held-out rows, on these.
func checkMetrics(t testing.TB, task scoring.Task, model *wire.Model, fit, held []trainingRow, intercept bool) {
	t.Helper()
	outputs := model.Model.Outputs
	theta, theta0, mean := make([][]float64, outputs), make([]float64, outputs), make([]float64, outputs)
	for k := range outputs {
		theta[k], theta0[k] = ridge(fit, k, model.Model.Lambda, intercept)
		if !intercept {
			theta0[k] = 0
		}
		for _, r := range fit {
			mean[k] += r.y[k] / float64(len(fit))
		}
	}
	var wrong, constantWrong, residual, constant, square, sum, n float64
	for _, r := range held {
		f := make([]float64, outputs)
		for k := range f {
			f[k] = predict(theta[k], theta0[k], r.z)
		}
		n++
		wrong += float64(stagestest.Bit(decide(f) != decide(r.y)))
		constantWrong += float64(stagestest.Bit(decide(mean) != decide(r.y)))
		residual += (f[0] - r.y[0]) * (f[0] - r.y[0])
		constant += (mean[0] - r.y[0]) * (mean[0] - r.y[0])
		square += r.y[0] * r.y[0]
		sum += r.y[0]
	}
	m := model.Metrics
	if task != scoring.Regression {
		near(t, "misclassification", *m.Misclassification, 100*wrong/n, 1e-9)
		near(t, "constant error", *m.ConstantError, 100*constantWrong/n, 1e-9)
		if m.UnexplainedVariance != nil || m.RelativeSquaredError != nil {
			t.Error("classes have the errors of a regression")
		}
		return
	}
	near(t, "relative squared error", *m.RelativeSquaredError, 100*residual/square, 1e-3*100*residual/square)
	near(t, "unexplained variance", *m.UnexplainedVariance, 100*residual/(square-sum*sum/n), 0.01)
	if got := *m.ConstantError; math.Abs(got-100*constant/square) > 1e-3*100*constant/square {
		t.Errorf("constant error %v, want %v", got, 100*constant/square)
	}
	if m.Misclassification != nil {
		t.Error("a regression has the error of classes")
	}
}

// decide is the class of coded outputs: the greatest, the first of equal ones; with one output, whether it is positive.
func decide(f []float64) int {
	if len(f) == 1 {
		return stagestest.Bit(f[0] > 0)
	}
	best := 0
	for k, v := range f {
		if v > f[best] {
			best = k
		}
	}
	return best
}

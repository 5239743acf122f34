package train

import (
	"errors"
	"math"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

func logisticConfig() Config {
	c := trainConfig()
	c.Loss = training.LossLogistic
	return c
}

func TestTrainerWithTheLogisticLoss(t *testing.T) {
	for _, task := range []string{stagestest.Binary, stagestest.Classes} {
		events := stagestest.Events(t, task, 900, 50, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
		set := featureSet(t, task, events)
		config := logisticConfig()
		messages := featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(80)), whole)
		model := solve(t, train(t, set, config, messages))
		if model.Model.Loss != training.LossLogistic || model.Metrics.Descent == nil || !model.Metrics.Descent.Converged {
			t.Fatalf("%s: %s loss, descent %+v", task, model.Model.Loss, model.Metrics.Descent)
		}
		if model.Metrics.LogLoss == nil || *model.Metrics.Misclassification >= *model.Metrics.ConstantError {
			t.Errorf("%s: %v %% wrong, %v %% by the constant predictor", task, *model.Metrics.Misclassification, *model.Metrics.ConstantError)
		}
		if loss := logLoss(trainingRows(t, set, config, messages), model.Model); !(loss < 0.69*float64(model.Model.Outputs)) {
			t.Errorf("%s: log loss %v on the training rows", task, loss)
		}
		for _, point := range model.Metrics.LambdaPath {
			if point.Descent == nil || !point.Descent.Converged || point.HeldOutLoss == nil {
				t.Errorf("%s: %+v", task, point)
			}
		}
		again := solve(t, train(t, set, config, featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(37)), 39)))
		if model.TrainRows != again.TrainRows {
			t.Errorf("%s: %d rows, cut otherwise %d", task, model.TrainRows, again.TrainRows)
		}
	}
}

// logLoss is the mean log loss of a model on rows whose outputs are ±1.
func logLoss(rows []trainingRow, m *training.Model) float64 {
	total := 0.0
	for _, r := range rows {
		sum, own := 0.0, 0.0
		for k := range m.Outputs {
			f := m.Intercept[k]
			for j, v := range r.z {
				f += m.Theta[k*m.Features+j] * float64(v)
			}
			if m.Outputs == 1 {
				total += math.Log1p(math.Exp(-f * float64(r.y[0])))
				continue
			}
			if sum += math.Exp(f); r.y[k] > 0 {
				own = f
			}
		}
		if m.Outputs > 1 {
			total += math.Log(sum) - own
		}
	}
	return total / float64(len(rows))
}

func TestTrainerRefusesRowsBeyondTheirMemory(t *testing.T) {
	events := stagestest.Events(t, stagestest.Binary, 300, 50, stagestest.Faults{})
	set := featureSet(t, stagestest.Binary, events)
	config := logisticConfig()
	config.RowMemory = 100 * 4 * int64(set.Set.Features.Len()+1)
	trainer, err := New(set, config, arrowio.DefaultLimits(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(80)), whole) {
		if err = trainer.Partition(2).Add(r); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrRowMemory) || !pipeline.IsPermanent(err) {
		t.Errorf("300 rows in the memory of 100: %v", err)
	}
	if n := trainer.Counts().Undecodable; n != 0 {
		t.Errorf("%d messages counted as undecodable", n)
	}
}

func TestTrainerRefusesLogisticRegressionOfNumbers(t *testing.T) {
	set := featureSet(t, stagestest.Regression, stagestest.Events(t, stagestest.Regression, 600, 22, stagestest.Faults{}))
	if _, err := New(set, logisticConfig(), arrowio.DefaultLimits(), 1); !pipeline.IsPermanent(err) {
		t.Errorf("logistic loss of a regression: %v", err)
	}
}

package train

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// LabelCoding returns the gain and offset by which training codes regression labels, relative to their calibration
// mean. They are those of selection, so that a label is in [-1, 1] by the range of the scored rows. An output that was
// constant among those rows has no range there and is left as it is, because it may vary elsewhere.
func LabelCoding(set *wire.FeatureSet) scoring.Coding {
	coding := scoring.Coding{Gain: slices.Clone(set.Coding.Gain), Offset: slices.Clone(set.Coding.Offset)}
	for k, gain := range coding.Gain {
		if gain == 0 {
			coding.Gain[k], coding.Offset[k] = 1, 0
		}
	}
	return coding
}

// codeLabels codes one row of labels, which are relative to their calibration mean.
func codeLabels(label []float32, coding scoring.Coding) []float32 {
	coded := make([]float32, len(label))
	for k, v := range label {
		coded[k] = float32(coding.Gain[k]*float64(v) + coding.Offset[k])
	}
	return coded
}

// codePredictions codes one row of predictions in the units of the label with the given calibration mean.
func codePredictions(predicted []float32, coding scoring.Coding, mean []float64) []float32 {
	coded := make([]float32, len(predicted))
	for k, v := range predicted {
		coded[k] = float32(coding.Gain[k]*(float64(v)-mean[k]) + coding.Offset[k])
	}
	return coded
}

// decode turns a regression model of coded labels into one that predicts in the units of the label, or of its transform
// if it has one.
func (t *Trainer) decode(model *training.Model) {
	if t.set.Task != scoring.Regression {
		return
	}
	for k, gain := range t.coding.Gain {
		for i := range model.Features {
			model.Theta[k*model.Features+i] /= gain
		}
		model.Intercept[k] = (model.Intercept[k]-t.fitOffset[k])/gain + t.set.Encoder.Label.Mean[k]
	}
}

// recoded turns a model that predicts in the units of a regression label into one for labels as this trainer codes
// them.
func (t *Trainer) recoded(model *training.Model) *training.Model {
	return recode(model, t.set.Task, t.coding, t.set.Encoder.Label.Mean)
}

func recode(model *training.Model, task scoring.Task, coding scoring.Coding, mean []float64) *training.Model {
	if task != scoring.Regression {
		return model
	}
	coded := *model
	coded.Theta, coded.Intercept = slices.Clone(model.Theta), slices.Clone(model.Intercept)
	for k, gain := range coding.Gain {
		for i := range model.Features {
			coded.Theta[k*model.Features+i] *= gain
		}
		coded.Intercept[k] = gain*(model.Intercept[k]-mean[k]) + coding.Offset[k]
	}
	return &coded
}

// labelUnits converts coded outputs to the units of the label.
func labelUnits(coding scoring.Coding, label *encoder.Label) training.Units {
	return func(k int, coded float64) float64 {
		return label.Transform.Invert((coded-coding.Offset[k])/coding.Gain[k] + label.Mean[k])
	}
}

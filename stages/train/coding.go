package train

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// LabelCoding returns the gain and offset by which training codes regression labels, relative to
// their calibration mean. They are the same as in the selection, so that a label is in [-1, 1] by
// the range of the scored rows. An output that was constant in those rows has no range and is left
// unchanged, because it may vary elsewhere.
func LabelCoding(set *wire.FeatureSet) scoring.Coding {
	coding := scoring.Coding{Gain: slices.Clone(set.Coding.Gain), Offset: slices.Clone(set.Coding.Offset)}
	for k, gain := range coding.Gain {
		if gain == 0 {
			coding.Gain[k], coding.Offset[k] = 1, 0
		}
	}
	return coding
}

// codeLabel appends the label of row i as it is fitted: ±1 one-vs-rest for classes; for a
// regression the gain times the label, relative to its calibration mean, plus the offset.
func codeLabel(y []float32, set *wire.FeatureSet, targets scoring.Targets, i int, gain, offset []float64) []float32 {
	outputs := targets.Outputs
	switch set.Task {
	case scoring.MultiClass:
		first := len(y)
		y = append(y, make([]float32, outputs)...)
		training.CodeClasses(y[first:], targets.Class[i:i+1], outputs)
	case scoring.Binary:
		y = append(y, targets.Values[i])
	case scoring.Regression:
		for k, v := range targets.Values[i*outputs : (i+1)*outputs] {
			y = append(y, float32(gain[k]*float64(v)+offset[k]))
		}
	}
	return y
}

// decode turns a regression model of coded labels into one that predicts in the units of the label,
// or of its transform.
func (t *Trainer) decode(model *training.Model) {
	if t.set.Task != scoring.Regression {
		return
	}
	for k, gain := range t.coding.Gain {
		for i := range model.Features {
			model.Theta[k*model.Features+i] /= gain
		}
		inUnits := func(intercept float64) float64 {
			return (intercept-t.fitOffset[k])/gain + t.set.Encoder.Label.Mean[k]
		}
		model.Intercept[k] = inUnits(model.Intercept[k])
		for at := k; at < len(model.MemberIntercept); at += model.Outputs {
			model.MemberIntercept[at] = inUnits(model.MemberIntercept[at])
		}
	}
}

// recoded turns a model that predicts in the units of a regression label into one for labels as
// this trainer codes them.
func (t *Trainer) recoded(model *training.Model) *training.Model {
	return recode(model, t.set, t.coding)
}

func recode(model *training.Model, set *wire.FeatureSet, coding scoring.Coding) *training.Model {
	if set.Task != scoring.Regression {
		return model
	}
	coded := *model
	coded.Theta, coded.Intercept = slices.Clone(model.Theta), slices.Clone(model.Intercept)
	coded.MemberIntercept = nil
	for k, gain := range coding.Gain {
		for i := range model.Features {
			coded.Theta[k*model.Features+i] *= gain
		}
		coded.Intercept[k] = gain*(model.Intercept[k]-set.Encoder.Label.Mean[k]) + coding.Offset[k]
	}
	return &coded
}

// labelUnits converts coded outputs to the units of the label.
func labelUnits(coding scoring.Coding, label *encoder.Label) training.Units {
	return func(k int, coded float64) float64 {
		return label.Transform.Invert((coded-coding.Offset[k])/coding.Gain[k] + label.Mean[k])
	}
}

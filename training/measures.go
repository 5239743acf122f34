package training

import (
	"math"
	"strconv"
)

// Measures are the errors of predictions on rows on which the model was not fitted. A figure is nil
// or missing if it was not measured or is not a number (no rows, a constant label).
// Misclassification, the relative squared error and the unexplained variance are in percent.
type Measures struct {
	// Measure is the measure by which models are judged, one of [Judging]; empty = the default of
	// the label, see [Measures.Main].
	Measure string `json:"measure,omitempty"`

	Misclassification    *float64 `json:"misclassification,omitempty"`
	RelativeSquaredError *float64 `json:"relative_squared_error,omitempty"` // the paper's: 100·Σ(f−y)²/Σy², coded labels
	UnexplainedVariance  *float64 `json:"unexplained_variance,omitempty"`   // 100·Σ(f−y)²/Σ(y−ȳ)², 100 for a constant
	// AbsoluteError is 100·Σ|f−y|/Σ|c−y|, where c is the mean label in training, averaged over
	// outputs.
	AbsoluteError *float64 `json:"absolute_error,omitempty"`
	// ConstantError is the error of the constant predictor: the misclassification of the commonest
	// class in training, or the relative squared error of the training mean.
	ConstantError *float64 `json:"constant_error,omitempty"`
	LogLoss       *float64 `json:"log_loss,omitempty"` // logistic loss: mean −log p of the class, in nats
	// ConstantNoise is the standard error, over rows, of the difference of the log loss from a
	// constant's; without probabilities, of the misclassification or of the unexplained variance.
	ConstantNoise *float64 `json:"constant_noise,omitempty"`
	// ConstantLogLoss is the smallest possible log loss for probabilities that are the same in
	// every row.
	ConstantLogLoss *float64 `json:"constant_log_loss,omitempty"`

	R2   *float64  `json:"r2,omitempty"`                     // 1 − unexplained variance/100
	RMSE []float64 `json:"rmse,omitempty" bound:"list 1024"` // by output, in units of the label
	// mean |f−y| by output, in units of the label
	MAE []float64 `json:"mae,omitempty" bound:"list 1024"`
	// standard deviation of the label, the best for a constant
	ConstantRMSE []float64 `json:"constant_rmse,omitempty" bound:"list 1024"`

	AUC              *float64 `json:"auc,omitempty"`               // two classes; a tie counts half
	AveragePrecision *float64 `json:"average_precision,omitempty"` // of RareClass
	RareClass        string   `json:"rare_class,omitempty"`        // one of two classes, with < 10 % of the rows
	// UnknownClassRows is the number of rows of classes that the model does not know. They count as
	// misclassified and in no other figure.
	UnknownClassRows int64 `json:"unknown_class_rows,omitempty"`

	Recall []ClassRecall `json:"recall,omitempty" bound:"list 1024"` // in order of class number
	// logistic loss: ten equal bins from 0 to 1
	Calibration []CalibrationBin `json:"calibration,omitempty" bound:"list 64"`
	// logistic loss, two classes: decisions at some thresholds, ascending
	Decisions []Decision `json:"decisions,omitempty" bound:"list 64"`

	ranking *ranking // of the rows measured; nil if unknown
}

// ClassRecall counts the rows of a class that were recognised.
type ClassRecall struct {
	Class string `json:"class"` // its name, or its number
	Rows  int64  `json:"rows"`
	Right int64  `json:"right"` // rows with a correct decision
}

// Share returns the recall, 0 for a class without rows.
func (r ClassRecall) Share() float64 {
	if r.Rows == 0 {
		return 0
	}
	return float64(r.Right) / float64(r.Rows)
}

// CalibrationBin compares the probabilities in a bin with the outcomes. The probability is the one
// of the second of two classes; with more classes, the one of the decided class.
type CalibrationBin struct {
	Rows      int64   `json:"rows"`
	Predicted float64 `json:"predicted"` // mean probability
	Observed  float64 `json:"observed"`  // share of rows of the class
}

// Main returns the measure by which models are judged, with its value and the value of a constant
// prediction. A value is nil if it was not measured.
func (m *Measures) Main() (measure string, value, constant *float64) {
	measure = m.Measure
	switch {
	case measure != "":
	case m.LogLoss != nil:
		measure = MeasureLogLoss
	case m.Misclassification != nil:
		measure = MeasureMisclassification
	default:
		measure = MeasureUnexplainedVariance
	}
	switch measure {
	case MeasureLogLoss:
		return measure, m.LogLoss, m.ConstantLogLoss
	case MeasureMisclassification:
		return measure, m.Misclassification, m.ConstantError
	case MeasureAbsoluteError:
		value = m.AbsoluteError
	default:
		value = m.UnexplainedVariance
	}
	if value != nil {
		constant = measured(100)
	}
	return measure, value, constant
}

// Percent returns the misclassification of classes or the unexplained variance of a regression, and
// that of a constant prediction. A value is nil if it was not measured.
func (m *Measures) Percent() (value, constant *float64) {
	if m.Misclassification != nil {
		return m.Misclassification, m.ConstantError
	}
	if m.UnexplainedVariance != nil {
		constant = measured(100)
	}
	return m.UnexplainedVariance, constant
}

// NoBetterThanConstant reports whether the predictions were judged and are no better than a
// constant.
func (m *Measures) NoBetterThanConstant() bool {
	_, value, constant := m.Main()
	return value != nil && constant != nil && *value >= *constant
}

// Sentence compares the model with a constant prediction by the main measure: "log loss 0.3370, a
// constant has 0.4470". It names differences that may be chance, and is "" without a measurement.
// With rows of unknown classes the measure is the misclassification.
func (m *Measures) Sentence() string {
	measure, value, constant := m.Main()
	if m.UnknownClassRows > 0 { // only the misclassification contains them
		measure, value, constant = MeasureMisclassification, m.Misclassification, m.ConstantError
	}
	if value == nil || constant == nil {
		return ""
	}
	text, other := MeasureTexts(measure, *value, *constant)
	text = MeasureTitle(measure) + " " + text
	switch {
	case *value >= *constant:
		return NothingBeatsConstant + ": " + text + ", a constant has " + other
	case m.ConstantNoise != nil && m.Measure == "" && m.UnknownClassRows == 0 && *constant-*value <= 2**m.ConstantNoise:
		return text + ", within chance of a constant, which has " + other
	}
	return text + ", a constant has " + other
}

// FigureText writes a figure for people, with four digits or as a whole number: 0.1234, 12.3,
// 62,510.
func FigureText(v float64) string {
	if v < 1e4 || v >= 1e12 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Figure is a measure with its name in JSON.
type Figure struct {
	Name  string
	Value float64
}

// Figures returns the measures with one number, or one for each output ("rmse[1]" for the second of
// several).
func (m *Measures) Figures() []Figure {
	var all []Figure
	for _, one := range []struct {
		name  string
		value *float64
	}{
		{MeasureMisclassification, m.Misclassification},
		{MeasureRelativeSquaredError, m.RelativeSquaredError},
		{MeasureUnexplainedVariance, m.UnexplainedVariance},
		{MeasureAbsoluteError, m.AbsoluteError},
		{"constant_error", m.ConstantError},
		{MeasureLogLoss, m.LogLoss},
		{"constant_log_loss", m.ConstantLogLoss},
		{"r2", m.R2},
		{"auc", m.AUC},
		{"average_precision", m.AveragePrecision},
		{"calibration_error", m.CalibrationError()},
	} {
		if one.value != nil {
			all = append(all, Figure{one.name, *one.value})
		}
	}
	for _, list := range []struct {
		name   string
		values []float64
	}{{"rmse", m.RMSE}, {"mae", m.MAE}, {"constant_rmse", m.ConstantRMSE}} {
		for k, v := range list.values {
			name := list.name
			if len(list.values) > 1 {
				name += "[" + strconv.Itoa(k) + "]"
			}
			all = append(all, Figure{name, v})
		}
	}
	return all
}

// CalibrationError returns the mean of |predicted − observed| over the bins, weighted by rows, or
// nil without rows.
func (m *Measures) CalibrationError() *float64 {
	var rows, sum float64
	for _, b := range m.Calibration {
		rows += float64(b.Rows)
		sum += float64(float64(b.Rows) * math.Abs(b.Predicted-b.Observed))
	}
	return measured(sum / rows)
}

// NothingBeatsConstant is the message for models that are no better than a constant.
const NothingBeatsConstant = "nothing here beats a constant"

// NameClasses replaces the numbers of the classes by their names.
func (m *Measures) NameClasses(names []string) {
	name := func(number string) string {
		if k, err := strconv.Atoi(number); err == nil && k >= 0 && k < len(names) {
			return names[k]
		}
		return number
	}
	for i := range m.Recall {
		m.Recall[i].Class = name(m.Recall[i].Class)
	}
	if m.RareClass != "" {
		m.RareClass = name(m.RareClass)
	}
}

// measured returns v as a figure, nil if it is NaN or infinite.
func measured(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// measuredAll returns values as figures, nil if one of them is NaN or infinite.
func measuredAll(values []float64) []float64 {
	if !finite(values) {
		return nil
	}
	return values
}

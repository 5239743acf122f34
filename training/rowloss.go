package training

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MeasureAuto is [MeasureLogLoss] for classes with probabilities, [MeasureMisclassification] for
// classes without, and [MeasureUnexplainedVariance] for a regression.
const MeasureAuto = "auto"

// Names of the measures by which predictions are judged. Each is the mean of a loss of single rows.
// All but the log loss are in percent.
const (
	MeasureLogLoss              = "log_loss" // −log p of the class, in nats
	MeasureMisclassification    = "misclassification"
	MeasureUnexplainedVariance  = "unexplained_variance"   // squared errors, the mean of the labels has 100
	MeasureAbsoluteError        = "absolute_error"         // absolute errors, the mean of the labels has 100
	MeasureRelativeSquaredError = "relative_squared_error" // squared errors, 0 has 100: the paper's
)

// Judging lists the measures that users can choose, and [MeasureAuto].
func Judging() []string {
	return []string{
		MeasureAuto, MeasureLogLoss, MeasureMisclassification, MeasureUnexplainedVariance, MeasureAbsoluteError,
	}
}

// MeasureFor resolves a measure for classes, with probabilities or without, or for a regression.
func MeasureFor(measure string, classes, probabilities bool) (string, error) {
	ofClasses := []string{MeasureLogLoss, MeasureMisclassification}
	switch {
	case measure == MeasureAuto && classes && probabilities:
		return MeasureLogLoss, nil
	case measure == MeasureAuto && classes:
		return MeasureMisclassification, nil
	case measure == MeasureAuto:
		return MeasureUnexplainedVariance, nil
	case classes != slices.Contains(ofClasses, measure) && classes:
		return "", fmt.Errorf("measure %s needs a label of numbers, but the label is a class: use %s",
			measure, strings.Join(ofClasses, " or "))
	case classes != slices.Contains(ofClasses, measure):
		return "", fmt.Errorf("measure %s needs classes, but the label is a number", measure)
	case measure == MeasureLogLoss && !probabilities:
		return "", fmt.Errorf("measure %s needs probabilities: use loss %s", measure, LossLogistic)
	}
	return measure, nil
}

// MeasureTitle returns the name of a measure for people.
func MeasureTitle(measure string) string { return strings.ReplaceAll(measure, "_", " ") }

// MeasureUnit returns the unit of a measure after a blank, "" for the log loss.
func MeasureUnit(measure string) string {
	if measure == MeasureLogLoss {
		return ""
	}
	return " %"
}

// MeasureTexts writes two values of a measure for people, with enough digits to tell them apart.
func MeasureTexts(measure string, a, b float64) (string, string) {
	one, other := MeasureText(measure, a), MeasureText(measure, b)
	for digits := 3; one == other && a != b && digits <= 17; digits++ {
		unit := MeasureUnit(measure)
		one, other = strconv.FormatFloat(a, 'g', digits, 64)+unit, strconv.FormatFloat(b, 'g', digits, 64)+unit
	}
	return one, other
}

// MeasureText writes a value of a measure for people: 12.34 %, and 0.3374 for the log loss.
func MeasureText(measure string, v float64) string {
	digits := 2
	if measure == MeasureLogLoss {
		digits = 4
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + MeasureUnit(measure)
}

package training

import "fmt"

// LossAuto is [LossLogistic] for classes and [LossSquared] for a regression.
const LossAuto = "auto"

// Losses lists the names of losses.
func Losses() []string { return []string{LossAuto, LossSquared, LossLogistic} }

// LossFor resolves one of [Losses] for classes or a regression.
func LossFor(loss string, classes bool) (string, error) {
	switch {
	case loss == LossLogistic && !classes:
		return "", fmt.Errorf("loss %s needs classes, but the label is a number", LossLogistic)
	case loss != LossAuto:
		return loss, nil
	case classes:
		return LossLogistic, nil
	}
	return LossSquared, nil
}

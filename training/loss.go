package training

import "fmt"

// LossAuto is [LossLogistic] for classes and [LossSquared] for a regression.
const LossAuto = "auto"

// Losses lists what a loss may be called where it is asked for.
func Losses() []string { return []string{LossAuto, LossSquared, LossLogistic} }

// LossFor returns the loss that is meant by one of [Losses], for labels that are classes or a regression's.
func LossFor(loss string, classes bool) (string, error) {
	switch {
	case loss == LossLogistic && !classes:
		return "", fmt.Errorf("loss %s is for classes, and the label is a regression's", LossLogistic)
	case loss != LossAuto:
		return loss, nil
	case classes:
		return LossLogistic, nil
	}
	return LossSquared, nil
}

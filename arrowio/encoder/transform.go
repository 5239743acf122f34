package encoder

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// The settings of Options.LabelTransform.
const (
	TransformNone  = "none"
	TransformLog   = "log"
	TransformLog1p = "log1p"
)

// Transform is applied to a regression label before learning; the empty one changes nothing.
type Transform string

// LabelTransforms lists the settings.
func LabelTransforms() []string { return []string{TransformNone, TransformLog, TransformLog1p} }

// transformOf is the transform for a setting.
func transformOf(setting string) Transform {
	if setting == TransformNone {
		return ""
	}
	return Transform(setting)
}

// apply returns the transformed label, NaN if v has none. The bits are the same on every processor.
func (t Transform) apply(v float64) float64 {
	switch {
	case t == "":
		return v
	case !t.has(v):
		return math.NaN()
	case t == TransformLog:
		return scoring.Log(v)
	}
	// log(1 + v) = log(u)·v/(u − 1), where u is the rounded 1 + v: its rounding error is in both
	// factors (Kahan; Goldberg, ACM Computing Surveys 23 (1991), theorem 4).
	u := 1 + v
	if u == 1 {
		return v
	}
	return scoring.Log(u) * (v / (u - 1))
}

// has reports whether a label can be transformed: a finite number, above 0 for log, above -1 for
// log1p.
func (t Transform) has(v float64) bool {
	switch t {
	case TransformLog:
		return v >= 0x1p-1022 && finite(v) // what Log accepts
	case TransformLog1p:
		return v > -1 && finite(v)
	}
	return true
}

// Invert maps a transformed label back. A model of the mean of transformed labels then predicts the
// median of the label, if the transformed labels are spread evenly about their mean. The result is
// finite.
func (t Transform) Invert(v float64) float64 {
	switch t {
	case TransformLog:
		return min(math.Exp(v), math.MaxFloat64)
	case TransformLog1p:
		return min(math.Expm1(v), math.MaxFloat64)
	}
	return v
}

// InvertAll inverts values in place.
func (t Transform) InvertAll(values []float64) {
	if t == "" {
		return
	}
	for i, v := range values {
		values[i] = t.Invert(v)
	}
}

// transformFaults checks the setting against the others.
func (o Options) transformFaults() []error {
	t := transformOf(o.LabelTransform)
	switch {
	case t == "":
		return nil
	case !slices.Contains(LabelTransforms(), o.LabelTransform):
		return []error{
			fmt.Errorf("label_transform %q is not one of %s", o.LabelTransform, strings.Join(LabelTransforms(), ", ")),
		}
	case o.Task == TaskClassification || len(o.Classes) > 0:
		return []error{fmt.Errorf("label_transform is for regression, but the label is a class")}
	}
	return nil
}

package training

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/training/internal/dots"
)

// LargestWeight bounds weights and intercepts, so that outputs, and the squares of their
// differences, are finite.
const LargestWeight = 1e100

// LossSquared is the name of the squared loss (f − y)².
const LossSquared = "squared"

// Model is a linear model on a feature set: f_k(z) = Intercept[k] + Σ_m Theta[k·M+m]·z_m.
type Model struct {
	Features  int       `json:"features"`                                     // M
	Outputs   int       `json:"outputs"`                                      // K
	Theta     []float64 `json:"theta"`                                        // [K*M], output-major
	Intercept []float64 `json:"intercept" bound:"list 1024 of -1e100..1e100"` // [K], zeros if trained without
	Lambda    float64   `json:"lambda"`                                       // of the objective that the model minimises
	Loss      string    `json:"loss"`                                         // LossSquared or LossLogistic
	// MemberIntercept is the intercepts of the models whose mean this is, [members*K], member-major;
	// nil for one member.
	MemberIntercept []float64 `json:"member_intercept,omitempty" bound:"list 16384 of -1e100..1e100"`
}

// Validate reports wrong lengths, values that are not finite, and weights beyond [LargestWeight].
func (m *Model) Validate() error {
	if m.Features <= 0 || m.Outputs <= 0 {
		return fmt.Errorf("model of %d features and %d outputs", m.Features, m.Outputs)
	}
	if len(m.Intercept) != m.Outputs || len(m.Theta)/m.Outputs != m.Features || len(m.Theta)%m.Outputs != 0 {
		return fmt.Errorf("model of %d features and %d outputs has %d weights and %d intercepts",
			m.Features, m.Outputs, len(m.Theta), len(m.Intercept))
	}
	if len(m.MemberIntercept)%m.Outputs != 0 {
		return fmt.Errorf("model of %d outputs has %d intercepts of members", m.Outputs, len(m.MemberIntercept))
	}
	if !finite(m.Theta) || !finite(m.Intercept) || !finite(m.MemberIntercept) || !finite([]float64{m.Lambda}) {
		return fmt.Errorf("model weights: %w", ErrNotFinite)
	}
	for _, weights := range [][]float64{m.Theta, m.Intercept, m.MemberIntercept} {
		for _, w := range weights {
			if math.Abs(w) > LargestWeight {
				return fmt.Errorf("model weight %v is beyond ±%v", w, LargestWeight)
			}
		}
	}
	return nil
}

// Predict writes f_k of each row, rounded to float32, into dst (rows×K, row-major); z is rows×M,
// row-major. Products and sums are in float64, in an order that is the same on every processor.
// Nothing is allocated. It panics if the lengths do not match.
//
// Float32 is enough for scores of classes and for coded labels. Labels in their own units need
// [Model.PredictValues].
func (m *Model) Predict(dst []float32, z []float32, rows int) {
	m.checkPrediction(len(dst), len(z), rows)
	dots.Affine(dst, m.Theta, m.Intercept, z, rows, m.Outputs, m.Features)
}

// PredictValues is [Model.Predict] without rounding to float32, for labels in their own units: the
// distance of a label from zero may be many times its range.
func (m *Model) PredictValues(dst []float64, z []float32, rows int) {
	m.checkPrediction(len(dst), len(z), rows)
	dots.Affine(dst, m.Theta, m.Intercept, z, rows, m.Outputs, m.Features)
}

// checkPrediction panics if the lengths of a prediction do not match.
func (m *Model) checkPrediction(predictions, values, rows int) {
	if rows < 0 || values != rows*m.Features || predictions != rows*m.Outputs {
		panic(fmt.Sprintf("training: prediction of %d rows by %d features and %d outputs, given %d and %d values",
			rows, m.Features, m.Outputs, values, predictions))
	}
}

func finite(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

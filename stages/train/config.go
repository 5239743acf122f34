package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/eerf-stream/eerf/training"
)

// Config configures training.
type Config struct {
	Fitting   `key:",squash"`
	Operation `key:",squash"`
}

// Fitting has the settings that models, or the decision which of them become current, depend on.
// All of them are in the configuration hash of a model.
type Fitting struct {
	MinRows         int64         `key:"min_rows" unit:"rows" range:"1,1000000000000" doc:"least number of training rows for a model"`
	HeldOutFraction float64       `key:"held_out_fraction" doc:"share of rows, by row hash, on which lambda is chosen"`
	HeldOutSeed     uint64        `key:"held_out_seed" doc:"seed of the held-out row hash"`
	EvaluationRows  int           `key:"evaluation_rows" unit:"rows" range:"1,100000000" doc:"held-out rows kept in memory to measure errors: this number for each of up to eight groups of partitions, and again for the merged sample"`
	Intercept       bool          `key:"intercept" doc:"fit an intercept; false is the paper's setting"`
	LambdaGrid      string        `key:"lambda_grid" doc:"relative (powers of ten times the mean diagonal of the Gram), paper (1e-5 to 1e5 absolute), or numbers separated by commas"`
	Loss            string        `key:"loss" doc:"squared (sums from one pass over the rows), logistic (keeps the rows in memory), or auto (logistic for classes, squared for regression)"`
	Measure         string        `key:"measure" doc:"measure by which a new model and the current one are compared: auto (log_loss for classes with probabilities, unexplained_variance for numbers), misclassification or absolute_error. Lambda is chosen by the loss of training; live errors are judged by the log loss or the squared error"`
	Forget          bool          `key:"forget" doc:"let old rows count less, by a half-life that is chosen on the newest held-out rows, and judge models on these; false = all rows count equally, as rows of a file always do"`
	Window          int64         `key:"window" json:",omitzero" unit:"rows" range:"1,1000000000000" zero:"all" doc:"approximate number of the newest rows of the features topic on which models are trained, labelled or not; raise it where few rows have labels. Up to twice this number is used before the sums are rebuilt. 0 = all"`
	LearningTime    time.Duration `key:"learning_time" unit:"duration" range:"1ms,8760h" doc:"processor time, by estimate, that training one model may take on one core with AVX2. Where it does not suffice, the logistic loss is trained on fewer rows, chosen by hash, and fewer half-lives, values of lambda and iterations are tried; model, log and report name what was cut"`
	Promote         Promote       `key:"promote"`
}

// Operation has the other settings.
type Operation struct {
	Interval  time.Duration `key:"interval" unit:"duration" range:"1ms,8760h" doc:"time between two models of trainer run"`
	RowMemory int64         `key:"row_memory" unit:"bytes" range:"1,1PiB" doc:"memory for the rows of the logistic loss, 4 bytes for each feature; if not all rows fit, a share chosen by hash is kept"`
}

// The rules by which a challenger replaces the incumbent.
const (
	PromoteBetter = "better"
	PromoteAlways = "always"
)

// PromoteRules lists the rules.
func PromoteRules() []string { return []string{PromoteBetter, PromoteAlways} }

// Promote decides when a new model, the challenger, replaces the current one, the incumbent.
type Promote struct {
	Rule   string `key:"rule" doc:"when a new model replaces the current one: better = when it beats it on the same held-out rows, or when the current one belongs to an older feature set; always"`
	Margin Margin `key:"margin" doc:"necessary reduction of the error by the new model: auto = the standard error of the difference, from the errors of both models row by row; or a share of the error of the current model; 0 = an equal error is enough; below 0, down to -1, it may be higher by that share"`
}

// Margin is a share of the error of the current model, or [MarginAuto].
type Margin float64

// MarginAuto stands for the standard error of the difference.
const MarginAuto Margin = math.MaxFloat64

// MarshalText writes the share, or auto.
func (m Margin) MarshalText() ([]byte, error) {
	if m == MarginAuto {
		return []byte("auto"), nil
	}
	return strconv.AppendFloat(nil, float64(m), 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
func (m *Margin) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*m = MarginAuto
		return nil
	}
	share, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(share) || math.Abs(share) > 1 {
		return fmt.Errorf("%q is neither auto nor a number from -1 to 1", text)
	}
	*m = Margin(share)
	return nil
}

// defaultWindow is four times the longest half-life. Older rows would hardly improve a model, and
// every start of a trainer would read them.
const defaultWindow = 1 << 20

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Fitting: Fitting{
			MinRows:         1000,
			HeldOutFraction: 0.2,
			HeldOutSeed:     1,
			EvaluationRows:  10_000,
			Intercept:       true,
			LambdaGrid:      "relative",
			Loss:            training.LossAuto,
			Measure:         training.MeasureAuto,
			Forget:          true,
			Window:          defaultWindow,
			LearningTime:    time.Minute,
			Promote:         Promote{Rule: PromoteBetter, Margin: MarginAuto},
		},
		Operation: Operation{Interval: time.Minute, RowMemory: 256 << 20},
	}
}

// hash identifies the settings that models depend on.
func (f Fitting) hash() string {
	document, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("train: settings do not marshal: %v", err)) // package config has checked the numbers
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}

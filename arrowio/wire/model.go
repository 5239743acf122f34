package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Model is a trained model as published: linear weights on the features of one feature set.
type Model struct {
	ID              string         `json:"id"` // [ModelID]; filled on decoding, computed when empty on encoding
	Pipeline        string         `json:"pipeline"`
	FeatureSetID    string         `json:"feature_set"`              // the set whose features the weights multiply
	Sequence        int64          `json:"sequence" bound:"0..1e12"` // of that feature set
	*training.Model                // whose weights are a column on the wire
	Label           *encoder.Label `json:"label,omitempty"` // task, classes and the mean subtracted from regression labels
	Metrics         Metrics        `json:"metrics"`
	TrainRows       int64          `json:"train_rows"` // rows that the weights were fitted on
	// rows that λ was chosen on; the metrics use the newest of them, at most train.evaluation_rows
	HeldOutRows int64  `json:"held_out_rows"`
	HeldOutSeed uint64 `json:"held_out_seed,string"`
	// HeldOutFraction is the share of rows that the row hash holds out, see [training.HeldOut].
	HeldOutFraction float64 `json:"held_out_fraction"`
	// Split is how rows of a file were held out, if not by that hash alone; nil for a topic.
	Split *Split `json:"split,omitempty"`
	// the configured part of the features topic, as in train.window; empty = all
	Window string  `json:"window,omitempty"`
	Ranges []Range `json:"ranges" bound:"list 65536"` // the rows read, ascending by partition
	// NotHeldOut are the events that the feature set was learned from: their rows were not held
	// out, regardless of their hash. Empty if the hash alone decided. Not hashed.
	NotHeldOut []Span    `json:"not_held_out,omitempty" bound:"list 65536"`
	TrainedAt  time.Time `json:"trained_at,omitzero"`
	ConfigHash string    `json:"config_hash,omitempty"` // of the training configuration

	// Judged are weights that were fitted without the held-out rows, at the same level of λ, in the
	// same units. The errors in Metrics and the comparison with other models use these weights,
	// because Model has seen the held-out rows in the end. Not hashed. nil if no comparison was
	// made.
	Judged *training.Model `json:"-"`
	// Judgement is the comparison with the model that was current; nil if there was none.
	Judgement *Judgement `json:"-"`
}

// Span is the events of a partition from one offset up to, not including, another.
type Span struct {
	Partition   int32  `json:"partition"`
	StartOffset int64  `json:"start_offset"`
	NextOffset  int64  `json:"next_offset"`
	Log         string `json:"log,omitempty"` // identity of the log of events; empty = any
	// SampleRate, if not 0, restricts the span to the rows that an exploration sampled. These are
	// known for a file, whose offsets are row numbers.
	SampleRate float64 `json:"sample_rate,omitempty"`
	SampleSeed uint64  `json:"sample_seed,omitempty,string"`
}

// Has reports whether the event of a row is in the span.
func (s Span) Has(id training.RowID) bool {
	of, _, _ := strings.Cut(id.Log, ".") // however often it has lost its end
	return id.Partition == s.Partition && s.StartOffset <= id.Offset && id.Offset < s.NextOffset &&
		(s.Log == "" || of == "" || s.Log == of) &&
		(s.SampleRate == 0 || scoring.Sampled(scoring.Hash(s.SampleSeed, id.Partition, id.Offset), s.SampleRate))
}

// HeldOut reports whether rows such as this one were used to judge the model and to choose its λ,
// and it was not fitted on them before that.
func (m *Model) HeldOut(id training.RowID) bool {
	return id.Below(m.HeldOutSeed, m.HeldOutFraction) &&
		!slices.ContainsFunc(m.NotHeldOut, func(s Span) bool { return s.Has(id) })
}

// Metrics are the errors of the model on held-out rows, and how it was found. A figure that was not
// measured or is not a number (no held-out rows, a constant label) is missing; [Measured] makes
// one.
type Metrics struct {
	training.Measures
	// MeasuredRows is the number of held-out rows that the errors were measured on; 0 = all of them
	// taught the features, so that there are no errors.
	MeasuredRows int64 `json:"measured_rows,omitempty"`
	// RowShare is the share of the training rows, chosen by a hash, that the weights and the choice
	// of λ are based on, if the rows did not all fit into memory for the logistic loss; 0 = all.
	RowShare float64 `json:"row_share,omitempty"`

	// HalfLife is the number of newer rows of the stream after which a row counted half as much; 0
	// = all rows counted the same.
	HalfLife float64 `json:"half_life,omitempty"`

	// Economies are the ways in which training was shortened to stay within train.learning_time:
	// [FewerRows], [FewerHalfLives], [training.FewerLevels], [training.FewerIterations].
	Economies []string `json:"economies,omitempty" bound:"list 16"`

	Descent    *Descent      `json:"descent,omitempty"` // logistic loss: how the weights were found
	LambdaPath []LambdaPoint `json:"lambda_path,omitempty" bound:"list 1024"`
	LambdaRule string        `json:"lambda_rule,omitempty"` // how λ was chosen, in words
	// Seen counts held-out rows that the exploration had seen; nil if it had seen none.
	Seen *SeenRows `json:"seen_by_exploration,omitempty"`
}

// Economies of a trainer, in addition to those of package training.
const (
	FewerRows      = "rows"       // rows were dropped by hash
	FewerHalfLives = "half_lives" // not all half-lives were tried
)

// SeenRows are held-out rows among the events that an exploration learned features from: errors on
// them may be too low.
type SeenRows struct {
	InRanges int64 `json:"rows_in_ranges"` // held-out rows in the ranges that the exploration read
	// Share is roughly the share of the held-out rows that it sampled: the share in its ranges
	// times its sample rate.
	Share float64 `json:"share"`
}

// LambdaPoint is one λ that was tried.
type LambdaPoint struct {
	Member int     `json:"member,omitempty"` // of the feature set, counted from 1; 0 = the only one
	Lambda float64 `json:"lambda"`
	// mean squared loss on held-out rows, in units of each output's variance, or mean log loss
	HeldOutLoss *float64 `json:"held_out_loss,omitempty"`
	// score of generalised cross-validation, if too few rows were held out; same units
	GCV     *float64 `json:"gcv,omitempty"`
	Descent *Descent `json:"descent,omitempty"` // logistic loss: how the model of this λ was found
}

// Descent describes how weights were found by iterations.
type Descent struct {
	Iterations       int     `json:"iterations"`
	RelativeGradient float64 `json:"relative_gradient"` // as a share of the constant model's gradient
	Converged        bool    `json:"converged"`
}

// Range is a part of the features topic, in coordinates of the source events: the rows from
// (FirstOffset, FirstRow) up to, not including, (NextOffset, NextRow). If a features partition
// holds the results of several logs of events, one after another, each has a range.
type Range struct {
	Partition   int32  `json:"partition"`
	Log         string `json:"log,omitempty"` // of events, see [FeatureBatch.SourceLog]
	FirstOffset int64  `json:"first_offset"`
	FirstRow    int32  `json:"first_row"`
	NextOffset  int64  `json:"next_offset"`
	NextRow     int32  `json:"next_row"`
	Rows        int64  `json:"rows"` // rows used of that range
}

// Measured returns v as a figure of [Metrics], nil if it is NaN or infinite.
func Measured(v float64) *float64 {
	if !finite([]float64{v}) {
		return nil
	}
	return &v
}

// Validate returns every inconsistency between the parts of a model.
func (m *Model) Validate() error {
	if m.Model == nil {
		return errors.New("no weights")
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkName("pipeline", m.Pipeline); err != nil {
		faults = append(faults, err)
	}
	if err := checkName("feature set id", m.FeatureSetID); err != nil {
		faults = append(faults, err)
	}
	if m.Sequence < 0 || m.TrainRows < 0 || m.HeldOutRows < 0 {
		fault("negative sequence %d, train rows %d or held-out rows %d", m.Sequence, m.TrainRows, m.HeldOutRows)
	}
	if !(m.HeldOutFraction >= 0 && m.HeldOutFraction < 1) {
		fault("held-out fraction %v is not within [0, 1)", m.HeldOutFraction)
	}
	for _, s := range m.NotHeldOut {
		if s.Partition < 0 || s.StartOffset < 0 || s.NextOffset < s.StartOffset || !(s.SampleRate >= 0 && s.SampleRate <= 1) {
			fault("rows of %+v are not held out: no such events", s)
		}
	}
	faults = append(
		faults,
		m.validateWeights(),
		m.validateJudged(),
		m.Split.validate(),
		m.Judgement.validate(),
		validateRanges(m.Ranges),
	)
	return errors.Join(faults...)
}

// validateWeights checks the shape and numbers of the linear model.
func (m *Model) validateWeights() error {
	w := m.Model
	if err := w.Validate(); err != nil {
		return err
	}
	switch {
	case w.Lambda < 0:
		return fmt.Errorf("lambda %v is negative", w.Lambda)
	case w.Loss == "":
		return errors.New("loss is empty")
	case m.Label != nil && m.Label.Outputs() != w.Outputs:
		return fmt.Errorf("%d outputs for a %v label of %d", w.Outputs, m.Label.Task, m.Label.Outputs())
	}
	return nil
}

// validateJudged checks that the judged weights belong to a model of the same shape.
func (m *Model) validateJudged() error {
	j := m.Judged
	if j == nil {
		return nil
	}
	if err := j.Validate(); err != nil {
		return fmt.Errorf("judged weights: %w", err)
	}
	if j.Features != m.Model.Features || j.Outputs != m.Model.Outputs {
		return fmt.Errorf("judged weights of %d features and %d outputs, the model has %d and %d",
			j.Features, j.Outputs, m.Model.Features, m.Model.Outputs)
	}
	return nil
}

// validateRanges checks that ranges ascend by partition and do not end before they start.
func validateRanges(ranges []Range) error {
	for i, r := range ranges {
		if i > 0 && r.Partition < ranges[i-1].Partition {
			return fmt.Errorf("ranges of partition %d after those of %d", r.Partition, ranges[i-1].Partition)
		}
		turned := r.NextOffset < r.FirstOffset || r.NextOffset == r.FirstOffset && r.NextRow < r.FirstRow
		if r.Partition < 0 || r.FirstOffset < 0 || r.FirstRow < 0 || r.NextRow < 0 || r.Rows < 0 || turned {
			return fmt.Errorf("range %+v has a negative coordinate or ends before it begins", r)
		}
	}
	return nil
}

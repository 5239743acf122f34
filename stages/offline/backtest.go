package offline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/train"
)

// Backtest processes the rows of a file in order as a stream would: the newest model predicts each
// row before anything learns from it.
type Backtest struct {
	Set   *wire.FeatureSet
	Train train.Config
	// Skip is the number of rows at the beginning that are learned from but not predicted, because
	// the feature set was explored on them.
	Skip int64
	// Every is the number of rows between two models, above 0.
	Every int64
	// Progress, if not nil, is called with the rows so far.
	Progress func(rows int64)
}

// Interval holds the errors on some neighbouring rows. Each figure is nil if no row was compared.
type Interval struct {
	Rows    int64         `json:"rows"` // of the file up to its end
	Forgets *live.Figures `json:"forgets"`
	Never   *live.Figures `json:"never_forgets"`
	// HalfLife is the half-life of the newest model with forgetting; 0 = none.
	HalfLife float64 `json:"half_life,omitempty"`
}

// Backtested is the result of a backtest.
type Backtested struct {
	Intervals []Interval `json:"intervals"`
	All       Interval   `json:"all"`
	// UnseenClasses are the most frequent classes of predicted rows that the feature set does not
	// know. Their rows count as misclassified.
	UnseenClasses []encoder.ClassRows `json:"unseen_classes,omitempty"`
	// Seconds are processor time for featurizing, comparing and training, with forgetting and
	// without.
	ForgetsSeconds float64 `json:"forgets_seconds"`
	NeverSeconds   float64 `json:"never_forgets_seconds"`
}

// ErrNothingCompared reports that a file has too few labelled rows for a backtest.
var ErrNothingCompared = errors.New(
	"no row was predicted: the file has too few labelled rows after the rows of the exploration")

// messageRows is the number of rows of a message of a backtest. All rows of a message of this size
// are compared.
const messageRows = 100

// Run runs the backtest.
func (b *Backtest) Run(ctx context.Context, open func() (events.RowReader, error)) (*Backtested, error) {
	r := &backtesting{plan: b}
	for i, forget := range []bool{true, false} {
		arm, err := b.newArm(forget)
		if err != nil {
			return nil, err
		}
		r.arms[i] = arm
	}
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error { return r.add(ctx, batch) })
	if err == nil && r.rows > r.last {
		err = r.close(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("backtest at row %d: %w", r.rows, err)
	}
	forgets, never := r.arms[0], r.arms[1]
	r.result.All = Interval{
		Rows:     r.rows,
		Forgets:  live.FiguresOf(forgets.all),
		Never:    live.FiguresOf(never.all),
		HalfLife: forgets.halfLife,
	}
	r.result.UnseenClasses = forgets.unseen.List()
	r.result.ForgetsSeconds, r.result.NeverSeconds = forgets.took.Seconds(), never.took.Seconds()
	if r.result.All.Forgets == nil || r.result.All.Never == nil {
		return nil, ErrNothingCompared
	}
	return &r.result, nil
}

// backtesting is a running backtest.
type backtesting struct {
	plan       *Backtest
	arms       [2]*backtestArm // with forgetting, and without
	result     Backtested
	rows, last int64 // so far, and at the end of the last interval
}

// add processes the rows of a batch in messages that end with the interval.
func (r *backtesting) add(ctx context.Context, batch arrow.Record) error {
	for first := int64(0); first < batch.NumRows(); {
		left := r.plan.Every - (r.rows - r.last) // rows left in the interval
		if r.rows < r.plan.Skip {
			left = r.plan.Skip - r.rows
		}
		next := min(first+messageRows, batch.NumRows(), first+left)
		message := batch.NewSlice(first, next)
		err := errors.Join(r.arms[0].add(message, r.rows), r.arms[1].add(message, r.rows), ctx.Err())
		message.Release()
		if err != nil {
			return err
		}
		r.rows += next - first
		if next-first == left {
			if err := r.close(ctx); err != nil {
				return err
			}
		}
		first = next
	}
	return nil
}

// close ends an interval: new models predict the next rows.
func (r *backtesting) close(ctx context.Context) error {
	for _, arm := range r.arms {
		if err := arm.retrain(ctx); err != nil {
			return err
		}
	}
	at := Interval{
		Rows:     r.rows,
		Forgets:  r.arms[0].take(),
		Never:    r.arms[1].take(),
		HalfLife: r.arms[0].halfLife,
	}
	if at.Forgets != nil && at.Never != nil {
		r.result.Intervals = append(r.result.Intervals, at)
	}
	r.last = r.rows
	if r.plan.Progress != nil {
		r.plan.Progress(r.rows)
	}
	return nil
}

// backtestArm is one way of training, with its own featurizer and trainer.
type backtestArm struct {
	core     *featurize.Featurizer
	trainer  *train.Trainer
	halfLife float64
	interval []*wire.Block
	all      []*wire.Block      // a single block
	unseen   encoder.ClassTally // of predicted rows
	took     time.Duration
}

func (b *Backtest) newArm(forget bool) (*backtestArm, error) {
	config := b.Train
	config.Forget = forget
	trainer, err := train.New(b.Set, config, arrowio.DefaultLimits(), 1)
	if err != nil {
		return nil, err
	}
	core, err := featurize.New(b.Set, featurize.Settings{
		Source:         events.Source{Limits: arrowio.DefaultLimits()},
		MaxOutputBytes: 64 << 20, // a message is one output
	})
	if err != nil {
		return nil, err
	}
	return &backtestArm{core: core, trainer: trainer, all: []*wire.Block{{}}}, nil
}

// add predicts the rows of a message, whose first row has a number in the file, and then learns
// from them.
func (a *backtestArm) add(rows arrow.Record, first int64) error {
	began := cputime.Process()
	defer func() { a.took += cputime.Process() - began }()
	value, err := arrowio.EncodeStream(rows.Schema(), rows)
	if err != nil {
		return err
	}
	message := pipeline.Record{Offset: first, Value: value}
	return a.core.Process(message, 0, time.Time{}, func(part featurize.Part) error {
		if part.Counts.Undecodable > 0 {
			return errors.New("the rows are unreadable as events")
		}
		if part.Live != nil {
			for _, c := range part.Unseen {
				a.unseen.Add(c.Class, c.Rows)
			}
			block := &wire.Block{}
			block.Add(part.Live)
			a.interval = append(a.interval, block)
		}
		if part.Output == nil {
			return nil
		}
		return a.trainer.Partition(0).Add(*part.Output)
	})
}

// retrain trains a new model on the rows so far, if they are enough.
func (a *backtestArm) retrain(ctx context.Context) error {
	began := cputime.Process()
	defer func() { a.took += cputime.Process() - began }()
	model, err := a.trainer.Solve(ctx, "backtest", time.Time{})
	if errors.Is(err, train.ErrTooFewRows) {
		return nil
	}
	if err != nil {
		return err
	}
	a.halfLife = model.Metrics.HalfLife
	a.core.UseModel(model, "")
	return nil
}

// take returns the figures of the rows since the last call.
func (a *backtestArm) take() *live.Figures {
	figures := live.FiguresOf(a.interval)
	for _, b := range a.interval {
		for i := range b.Models {
			sums := b.Models[i].Clone()
			sums.Model = "all"
			a.all[0].Add(&sums)
		}
	}
	a.interval = nil
	return figures
}

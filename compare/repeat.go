package compare

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// repeat is the rows of one repeat and the results that its trials share.
type repeat struct {
	number      int
	seed        uint64
	options     Options
	train, test *rows
	unknown     int      // test rows of classes that are not learned
	identities  []uint64 // of the training rows
	heldOut     []bool   // by training row
	pool        *pool
	shares      map[string]*share       // by name
	predicted   map[string]*predictions // by method, for methods without features
	// trainMean and majority are the predictions of the constant predictor.
	trainMean  []float64
	majority   int32
	units      training.Units // units of a regression label
	columns    []int32        // the column of the file from which each encoded one comes
	classNames []string
	warning    string

	encoder *encoder.Encoder
	linear  *repeat // for methods without a clip; nil until one needs it
}

// newRepeat prepares the rows and the pool of a repeat.
func newRepeat(o Options, number int, split *datasets.Split) (*repeat, error) {
	coding := codingOf(split.Train)
	r := &repeat{
		number: number, seed: o.Seed + uint64(number), options: o,
		train: newRows(split.Train, coding), test: newRows(split.Test, coding),
		unknown: split.TestLeftOut.UnknownClass,
		shares:  make(map[string]*share), predicted: make(map[string]*predictions), encoder: split.Encoder,
	}
	if err := r.checkRows(); err != nil {
		return nil, err
	}
	var err error
	if r.options.Loss, err = training.LossFor(o.Loss, r.train.task != scoring.Regression); err != nil {
		return nil, optionsFault("--%w", err)
	}
	if r.options.Measure, err = r.measureFor(o.Measure); err != nil {
		return nil, optionsFault("--%w", err)
	}
	r.identities = split.Train.Identities()
	r.heldOut = heldOutRows(r.seed, r.identities, o.HeldOut)
	r.trainMean, r.majority = r.train.means(), r.train.majority()
	r.units, r.classNames = coding.units(split.Encoder.Label), split.Encoder.Label.Classes
	if len(split.Encoder.Columns) > 0 {
		r.columns = split.Encoder.Origins()
	}
	sigma, warning := r.bandwidth()
	r.warning = warning
	candidates, err := o.candidates(r.train.dim, sigma, r.seed)
	if err != nil {
		return nil, err
	}
	left := r.train.rows - countTrue(r.heldOut)
	list := firstByHash(r.seed, r.train.rows, o.sampleSize(left), r.heldOut)
	r.pool = &pool{candidates: candidates, list: list, sample: r.train.sample(list)}
	return r, nil
}

// measureFor resolves the measure by which methods are compared.
func (r *repeat) measureFor(measure string) (string, error) {
	if measure == training.MeasureRelativeSquaredError && r.train.task == scoring.Regression {
		return measure, nil
	}
	return training.MeasureFor(measure, r.train.task != scoring.Regression, r.options.Loss == training.LossLogistic)
}

// ErrOneLabel reports training rows with one label.
var ErrOneLabel = errors.New("the label is the same")

// checkRows reports rows without anything to learn or to measure.
func (r *repeat) checkRows() error {
	if r.train.rows < 2 || r.test.rows < 1 {
		return fmt.Errorf("%d training rows and %d test rows are too few for a comparison", r.train.rows, r.test.rows)
	}
	for i, y := range r.train.y {
		if y != r.train.y[i%r.train.outputs] {
			return nil
		}
	}
	return fmt.Errorf("%w in all %d training rows; choose another label or more rows", ErrOneLabel, r.train.rows)
}

// bandwidth returns σ.
func (r *repeat) bandwidth() (sigma float64, warning string) {
	if r.options.Sigma > 0 {
		return r.options.Sigma, ""
	}
	list := firstByHash(r.seed^bandwidthTag, r.train.rows, min(r.train.rows, bandwidthRows), nil)
	near := r.train.sample(list)
	return scoring.Bandwidth(near.x, near.rows, near.dim, r.options.Distribution, r.options.Map)
}

// try runs one method at M features.
func (r *repeat) try(ctx context.Context, method *Method, m int) (Measurement, *measured) {
	run := Measurement{Method: method.Name, M: m, Repeat: r.number, Seed: r.seed}
	if method.predict != nil {
		return r.tryPredictions(ctx, run, method)
	}
	if method.Unclipped {
		r = r.unclipped()
	}
	trial := r.newTrial(m)
	runtime.GC() // so that no method pays for the garbage of the previous one
	began := time.Now()
	selected, err := method.Select(ctx, trial)
	run.Preprocess = time.Since(began).Seconds() - trial.spent + trial.charged
	if err != nil {
		run.Failure = err.Error()
		return run, nil
	}
	outcome, err := r.tryChoice(ctx, &run, selected)
	if err != nil {
		run.Failure = err.Error()
		return run, nil
	}
	return run, outcome
}

// tryPredictions measures a method without features, which runs once for all M.
func (r *repeat) tryPredictions(ctx context.Context, run Measurement, method *Method) (Measurement, *measured) {
	found := r.predicted[method.Name]
	if found == nil {
		var err error
		if found, err = method.predict(ctx, r); err != nil {
			run.Failure = err.Error()
			return run, nil
		}
		r.predicted[method.Name] = found
	}
	outcome := r.evaluate(found.values, training.LossLogistic)
	run.Train = found.Train
	run.Test = found.Predict
	run.RowMicroseconds = 1e6 * found.Predict / float64(r.test.rows)
	run.Note = found.Note
	run.Error = outcome.error
	run.Measures = outcome.Measures
	return run, outcome
}

// unclipped returns the repeat with the logarithms beyond the clip undone.
func (r *repeat) unclipped() *repeat {
	if r.linear == nil {
		linear := *r
		linear.train, linear.test = r.train.unclipped(r.encoder), r.test.unclipped(r.encoder)
		r.linear = &linear
	}
	return r.linear
}

// tryChoice trains and measures a model on a feature set.
func (r *repeat) tryChoice(ctx context.Context, run *Measurement, choice *Selected) (*measured, error) {
	began := time.Now()
	model, err := r.fit(ctx, choice)
	if err != nil {
		return nil, err
	}
	run.Train = time.Since(began).Seconds()
	began = time.Now()
	outcome := r.measure(model)
	run.Test = time.Since(began).Seconds()
	run.RowMicroseconds = r.rowMicroseconds(model)
	run.Features, run.Note = choice.Set.Features.Len(), join(choice.Note, model.note)
	run.Lambda = model.model.Lambda
	run.AtEdge = model.atEdge
	run.Iterations = model.iterations
	run.Error = outcome.error
	run.Measures = outcome.Measures
	return outcome, nil
}

// join joins two remarks.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

package training

import (
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/training/internal/gram"
	"github.com/eerf-stream/eerf/training/internal/linear"
)

// MinHeldOutRows is the smallest number of held-out rows on which λ is chosen. With fewer, a single
// unusual row would decide, so generalised cross-validation on all rows chooses λ.
const MinHeldOutRows = 30

// Rule is the way in which λ was chosen.
type Rule string

const (
	// RuleHeldOut chooses the smallest loss on the held-out rows, within the tolerance of [Train].
	RuleHeldOut Rule = "held_out"
	// RuleGCV is generalised cross-validation on all rows. It applies with too few held-out rows.
	RuleGCV Rule = "gcv"
	// RuleLargest takes the largest λ. It applies with too few rows for either of the others.
	RuleLargest Rule = "largest"
)

// Fit is a trained model and how it was found.
type Fit struct {
	Model *Model `json:"model"` // fitted on all rows at the chosen level
	// OnFit is fitted on the fit rows alone at the chosen level. Held-out errors are measured with
	// it. It is Model itself if either part has no rows.
	OnFit *Model `json:"on_fit"`

	Rule    Rule      `json:"rule"`
	Level   float64   `json:"level"`   // chosen level: λ/scale on the relative grid, otherwise λ
	Levels  []float64 `json:"levels"`  // every level tried, ascending
	Lambdas []float64 `json:"lambdas"` // the λ of each level while choosing, raised if rounding would hide it
	// HeldOutLoss is the mean squared loss of each λ under RuleHeldOut. Each output is divided by
	// its variance, and outputs are added up.
	HeldOutLoss []float64 `json:"held_out_loss"`
	GCV         []float64 `json:"gcv"`     // score of each λ under RuleGCV, in the same units
	AtEdge      bool      `json:"at_edge"` // the chosen level is the lowest or highest tried; a wider grid may be better

	// Economies are the ways in which training was shortened to stay within [Options.Budget].
	Economies []Economy `json:"economies,omitempty"`

	FitRows          int64 `json:"fit_rows"`
	HeldOutRows      int64 `json:"held_out_rows"`
	TrainRows        int64 `json:"train_rows"`        // rows of Model: fit and held-out
	ConstantFeatures int   `json:"constant_features"` // features that never varied; their weight is 0 with an intercept
}

// Train fits the models on fit and chooses λ on heldOut, which may be nil or empty. It changes
// neither.
//
// With at least MinHeldOutRows held-out rows, every λ is fitted on fit. The λ with the smallest
// squared loss on heldOut is chosen (each output divided by its variance over fit), and its level
// is refitted on all rows. With fewer, all rows are fitted and generalised cross-validation chooses
// λ. Among losses within the tolerance of the least, the largest λ is chosen.
//
// Few rows (N < M), constant or repeated features and constant labels all give a model: with an
// intercept, a feature that never varies gets weight 0, and repeated features share their weight.
// The error wraps ErrNoRows if there are no rows at all and ErrNotFinite if a sum is not finite.
// Train panics if the shapes of fit and heldOut differ.
func Train(fit, heldOut *Sums, o Options) (*Fit, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if heldOut == nil {
		heldOut = NewSums(fit.features, fit.outputs)
	}
	if fit.features != heldOut.features || fit.outputs != heldOut.outputs {
		panic(fmt.Sprintf("training: %d features and %d outputs to fit, %d and %d held out",
			fit.features, fit.outputs, heldOut.features, heldOut.outputs))
	}
	if fit.Rows+heldOut.Rows == 0 {
		return nil, fmt.Errorf("train: %w", ErrNoRows)
	}
	t, err := newTraining(fit.gram.Settled(), heldOut.gram.Settled(), o)
	if err != nil {
		return nil, fmt.Errorf("train on %d rows and %d held out: %w", fit.Rows, heldOut.Rows, err)
	}
	whole := len(t.options.Grid.levels())
	t.options.Grid = t.affordable()
	f, err := t.run()
	if err != nil {
		return nil, fmt.Errorf("train on %d rows and %d held out: %w", fit.Rows, heldOut.Rows, err)
	}
	if len(t.options.Grid.levels()) < whole {
		f.Economies = []Economy{FewerLevels}
	}
	t.options.Budget.Spend(float64(len(f.Levels)+2) * t.levelSeconds())
	f.ConstantFeatures = t.whole.constant
	f.FitRows, f.HeldOutRows, f.TrainRows = fit.Rows, heldOut.Rows, fit.Rows+heldOut.Rows
	return f, f.Model.Validate()
}

// trainingRun is one call of Train.
type trainingRun struct {
	options      Options
	fit, heldOut *gram.Moments
	whole        *system // of all rows
}

func newTraining(fit, heldOut *gram.Moments, o Options) (*trainingRun, error) {
	whole, err := newSystem(fit.Plus(heldOut), o.Intercept)
	return &trainingRun{options: o, fit: fit, heldOut: heldOut, whole: whole}, err
}

// levelSeconds estimates the time of solving for one λ.
func (t *trainingRun) levelSeconds() float64 {
	return factorSeconds(t.whole.features) + solveSeconds(t.whole.features, t.whole.outputs)
}

// affordable returns the grid, thinned if the budget does not suffice for all of its levels and the
// final fits.
func (t *trainingRun) affordable() Grid {
	b := t.options.Budget
	if b == nil {
		return t.options.Grid
	}
	return t.options.Grid.thinned(int((b.limit-*b.spent)/t.levelSeconds()) - 2)
}

func (t *trainingRun) run() (*Fit, error) {
	if t.fit.Rows() > 0 && t.heldOut.Rows() >= MinHeldOutRows {
		return t.fitHeldOut()
	}
	return t.fitGCV()
}

// fitHeldOut chooses λ on held-out rows and refits all rows at the chosen level.
func (t *trainingRun) fitHeldOut() (*Fit, error) {
	part, err := newSystem(t.fit, t.options.Intercept)
	if err != nil {
		return nil, err
	}
	heldOut, err := centre(t.heldOut)
	if err != nil {
		return nil, err
	}
	p := newPath(part, t.options.Grid, false, func(a []solution) []float64 { return heldOut.meanLosses(a, part.weight) })
	w, found, err := walk(t.options.Grid, p.losses)
	if err != nil {
		return nil, err
	}
	f := newFit(w, found, p)
	f.OnFit = p.at(f.Level).model
	if found {
		f.Rule, f.HeldOutLoss = RuleHeldOut, w.losses
	}
	f.Model, err = t.whole.modelAt(t.options.Grid, f.Level, p.room[0])
	return f, err
}

// fitGCV chooses λ by generalised cross-validation on all rows.
func (t *trainingRun) fitGCV() (*Fit, error) {
	p := newPath(t.whole, t.options.Grid, true, t.whole.gcv)
	w, found, err := walk(t.options.Grid, p.losses)
	if err != nil {
		return nil, err
	}
	f := newFit(w, found, p)
	f.Model = p.at(f.Level).model
	if found {
		f.Rule, f.GCV = RuleGCV, w.losses
	}
	f.OnFit = f.Model
	if t.fit.Rows() == 0 || t.heldOut.Rows() == 0 {
		return f, nil
	}
	part, err := newSystem(t.fit, t.options.Intercept)
	if err != nil {
		return nil, err
	}
	f.OnFit, err = part.modelAt(t.options.Grid, f.Level, p.room[0])
	return f, err
}

// modelAt returns the model for one level; factor provides memory for it.
func (s *system) modelAt(g Grid, level float64, factor *linear.Cholesky) (*Model, error) {
	a, err := s.solve(s.lambda(g, level), factor, false)
	return a.model, err
}

// newFit reports a search over the levels of a path.
func newFit(w search, found bool, p *path) *Fit {
	f := &Fit{Rule: RuleLargest, Level: w.levels[w.best], Levels: w.levels, AtEdge: found && w.atEdge()}
	for _, level := range w.levels {
		f.Lambdas = append(f.Lambdas, p.at(level).model.Lambda)
	}
	return f
}

var (
	// ErrNoRows reports that no rows were given.
	ErrNoRows = errors.New("no rows to train on")
	// ErrNotFinite reports that a sum or weight is NaN or infinite.
	ErrNotFinite = errors.New("value is not finite")
)

// Options are the objective that Train minimises and the λ that it tries.
type Options struct {
	// Intercept adds the unpenalised θ0 (by centring z and y). The paper has none.
	Intercept bool `json:"intercept"`
	// Grid is the set of λ; the zero value is the relative grid.
	Grid Grid `json:"lambda_grid"`
	// Budget bounds the time of training; nil = unlimited. Where it does not suffice, fewer λ are
	// tried and descents end before they converge.
	Budget *Budget `json:"-"`
}

// Validate reports a faulty grid.
func (o Options) Validate() error { return o.Grid.Validate() }

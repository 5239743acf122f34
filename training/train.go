package training

import "fmt"

// MinHeldOutRows is the number of held-out rows from which λ is chosen on them. With fewer, one unusual
// row would decide, so λ is chosen by generalised cross-validation on all rows.
const MinHeldOutRows = 30

// Rule names how λ was chosen.
type Rule string

const (
	// RuleHeldOut is the smallest squared loss on the held-out rows.
	RuleHeldOut Rule = "held_out"
	// RuleGCV is generalised cross-validation on all rows, there being too few held-out rows.
	RuleGCV Rule = "gcv"
	// RuleLargest is the largest λ, there being too few rows for either.
	RuleLargest Rule = "largest"
)

// Fit is a trained model and how it came about.
type Fit struct {
	Model *Model `json:"model"`  // fitted on all rows at the chosen level
	OnFit *Model `json:"on_fit"` // fitted on the fit rows alone at the chosen level: what held-out errors are measured with; Model itself when either part has no rows

	Rule        Rule      `json:"rule"`
	Level       float64   `json:"level"`         // chosen level: λ/scale on the relative grid, else λ
	Levels      []float64 `json:"levels"`        // every level tried, ascending
	Lambdas     []float64 `json:"lambdas"`       // the λ of each level while choosing
	HeldOutLoss []float64 `json:"held_out_loss"` // RuleHeldOut: mean squared loss of each λ, each output divided by its variance, summed over outputs
	GCV         []float64 `json:"gcv"`           // RuleGCV: the score of each λ, same units
	AtEdge      bool      `json:"at_edge"`       // the chosen level is the lowest or highest tried: a wider grid may be better

	FitRows          int64 `json:"fit_rows"`
	HeldOutRows      int64 `json:"held_out_rows"`
	TrainRows        int64 `json:"train_rows"`        // fit + held-out: what Model is fitted on
	ConstantFeatures int   `json:"constant_features"` // features that never varied; their weight is 0 under an intercept
}

// Train fits the models of fit and chooses λ on heldOut, which may be nil or empty; it changes neither.
//
// With MinHeldOutRows held-out rows or more, every λ is fitted on fit (one eigendecomposition), the one of
// the smallest squared loss on heldOut is chosen (each output divided by its variance over fit), and its
// level is fitted again on all rows. With fewer, all rows are fitted and λ chosen by generalised
// cross-validation. Equal losses go to the largest λ.
//
// Few rows (N < M), constant or repeated features and constant labels all have an answer: a feature that
// never varies gets weight 0 under an intercept, repeated ones share theirs. The error wraps ErrNoRows
// when there are no rows at all and ErrNotFinite when a sum is not finite. Train panics when the shapes
// of fit and heldOut differ.
func Train(fit, heldOut *Sums, o Options) (*Fit, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if heldOut == nil {
		heldOut = NewSums(fit.features, fit.outputs)
	}
	all := fit.Clone()
	all.Merge(heldOut)
	if all.Rows == 0 {
		return nil, fmt.Errorf("train: %w", ErrNoRows)
	}
	f, err := fitAll(fit, heldOut, all, o)
	if err != nil {
		return nil, fmt.Errorf("train on %d rows and %d held out: %w", fit.Rows, heldOut.Rows, err)
	}
	f.FitRows, f.HeldOutRows, f.TrainRows = fit.Rows, heldOut.Rows, all.Rows
	return f, f.Model.Validate()
}

func fitAll(fit, heldOut, all *Sums, o Options) (*Fit, error) {
	whole, err := newSystem(all, o.Intercept)
	if err != nil {
		return nil, err
	}
	var f *Fit
	if fit.Rows > 0 && heldOut.Rows >= MinHeldOutRows {
		f, err = fitHeldOut(fit, heldOut, whole, o)
	} else {
		f, err = fitGCV(fit, heldOut, whole, o)
	}
	if err != nil {
		return nil, err
	}
	f.ConstantFeatures = whole.constant
	return f, nil
}

// fitHeldOut chooses on held-out rows and fits the whole again at the chosen level.
func fitHeldOut(fit, heldOut *Sums, whole *system, o Options) (*Fit, error) {
	part, err := newSystem(fit, o.Intercept)
	if err != nil {
		return nil, err
	}
	held, err := centre(heldOut)
	if err != nil {
		return nil, err
	}
	eigen, err := decompose(part)
	if err != nil {
		return nil, err
	}
	modelAt := func(level float64) *Model {
		lambda := part.lambda(o.Grid, level)
		return part.model(eigen.weights(lambda), lambda)
	}
	w, found := walk(o.Grid, func(level float64) float64 {
		return held.meanLoss(modelAt(level), part.weight)
	})
	level := w.levels[w.best]
	theta, err := whole.solve(whole.lambda(o.Grid, level))
	if err != nil {
		return nil, err
	}
	f := newFit(w, found, part, o.Grid)
	f.Model = whole.model(theta, whole.lambda(o.Grid, level))
	f.OnFit = modelAt(level)
	if found {
		f.Rule, f.HeldOutLoss = RuleHeldOut, w.losses
	}
	return f, nil
}

// fitGCV chooses by generalised cross-validation on all rows.
func fitGCV(fit, heldOut *Sums, whole *system, o Options) (*Fit, error) {
	eigen, err := decompose(whole)
	if err != nil {
		return nil, err
	}
	w, found := walk(o.Grid, func(level float64) float64 {
		return whole.gcv(eigen, whole.lambda(o.Grid, level))
	})
	f := newFit(w, found, whole, o.Grid)
	lambda := whole.lambda(o.Grid, f.Level)
	f.Model = whole.model(eigen.weights(lambda), lambda)
	if found {
		f.Rule, f.GCV = RuleGCV, w.losses
	}
	f.OnFit = f.Model
	if fit.Rows == 0 || heldOut.Rows == 0 {
		return f, nil
	}
	part, err := newSystem(fit, o.Intercept)
	if err != nil {
		return nil, err
	}
	partLambda := part.lambda(o.Grid, f.Level)
	theta, err := part.solve(partLambda)
	if err != nil {
		return nil, err
	}
	f.OnFit = part.model(theta, partLambda)
	return f, nil
}

// newFit reports a search over the levels of the system it was made on.
func newFit(w search, found bool, s *system, g Grid) *Fit {
	f := &Fit{Rule: RuleLargest, Level: w.levels[w.best], Levels: w.levels, AtEdge: found && w.atEdge()}
	for _, level := range w.levels {
		f.Lambdas = append(f.Lambdas, s.lambda(g, level))
	}
	return f
}

// lambda returns the λ of a level.
func (s *system) lambda(g Grid, level float64) float64 {
	if g.relative() {
		return level * s.scale
	}
	return level
}

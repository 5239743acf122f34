package training

import (
	"context"
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

// LossLogistic is the name of the logistic loss: −log p of the class of a row, where p is the
// softmax of its outputs. Two classes have one output f, and p = 1/(1 + e^−f) for class 1.
const LossLogistic = "logistic"

const (
	// RuleFolds chooses the smallest mean loss on every fifth row, which is left out of the fit.
	RuleFolds Rule = "folds"

	folds = 5
)

// LogisticFit is a model for the logistic loss and how it was found. Fit.HeldOutLoss holds the mean
// log losses, in nats per row, by which λ was chosen. Fit.GCV is empty.
type LogisticFit struct {
	Fit
	// Path describes the descent for each λ.
	Path []Convergence `json:"path"`
	// Last describes the descent to Model, which starts from OnFit.
	Last Convergence `json:"last"`
}

// stopped reports whether the budget ended a descent.
func (f *LogisticFit) stopped() bool {
	return f.Last.Stopped || slices.ContainsFunc(f.Path, func(c Convergence) bool { return c.Stopped })
}

// Unconverged returns how many of the models that were made did not converge.
func (f *LogisticFit) Unconverged() int {
	n := 0
	for _, c := range append(f.Path[:len(f.Path):len(f.Path)], f.Last) {
		if !c.Converged {
			n++
		}
	}
	return n
}

// TrainLogistic fits the models on fit and chooses λ on heldOut, which may be nil or empty. It
// changes neither. It minimises
//
//	(1/N) Σ_n −log p(class of n) + λ Σ_k ‖θ_k‖²
//
// where the intercepts are not penalised. The levels of the grid are tried from the largest down,
// each starting from the previous model, until the held-out log loss has clearly risen (by 5 %).
// The best level is refitted on all rows.
//
// With fewer than MinHeldOutRows held-out rows, every fifth row replaces them. A single row gets
// the largest λ. With an intercept, a class without rows has weights 0 and the intercept −log 2N.
//
// The bits of the result do not depend on GOMAXPROCS. The error wraps ErrNoRows if there are no
// rows at all, ErrNotFinite if a feature is not finite, and the error of ctx when ctx ends.
// TrainLogistic panics if the shapes of fit and heldOut differ.
func TrainLogistic(ctx context.Context, fit, heldOut *Rows, o Options) (*LogisticFit, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if heldOut == nil {
		heldOut = NewRows(fit.features, fit.classes)
	}
	all := fit.plus(heldOut)
	if all.Len() == 0 {
		return nil, fmt.Errorf("train: %w", ErrNoRows)
	}
	t := &logisticRun{options: o, fit: fit, heldOut: heldOut, factor: linear.NewCholesky(fit.features)}
	f, err := t.run(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("train on %d rows and %d held out: %w", fit.Len(), heldOut.Len(), err)
	}
	if f.stopped() {
		f.Economies = append(f.Economies, FewerIterations)
	}
	f.FitRows, f.HeldOutRows, f.TrainRows = int64(fit.Len()), int64(heldOut.Len()), int64(all.Len())
	return f, f.Model.Validate()
}

// logisticRun is one call of TrainLogistic.
type logisticRun struct {
	options      Options
	fit, heldOut *Rows
	factor       *linear.Cholesky
}

func (t *logisticRun) run(ctx context.Context, all *Rows) (*LogisticFit, error) {
	whole, err := newLogistic(all, t.options)
	if err != nil {
		return nil, err
	}
	p, rule, err := t.path(all)
	if err != nil {
		return nil, err
	}
	f := &LogisticFit{Fit: Fit{Rule: rule, ConstantFeatures: whole.moments.constant}}
	start := answer{x: whole.start}
	if rule == RuleLargest {
		levels := t.options.Grid.levels()
		f.Level = levels[len(levels)-1]
		f.Levels = []float64{f.Level}
	} else {
		if err := p.walk(ctx); err != nil {
			return nil, err
		}
		if p.short {
			f.Economies = append(f.Economies, FewerLevels)
		}
		p.report(f)
		start = whole.from(p.problem, p.best.answer)
	}
	lambda := whole.lambdaOf(t.options.Grid, f.Level)
	last, err := whole.solve(ctx, start, lambda, solver{t.factor, lastTolerance, t.options.Budget})
	if err != nil {
		return nil, err
	}
	f.Last, f.Model = last.how, whole.model(last.x, lambda)
	f.OnFit, err = t.onFit(ctx, f, p)
	return f, err
}

// onFit returns the model at the chosen level, fitted only on the rows of fit.
func (t *logisticRun) onFit(ctx context.Context, f *LogisticFit, p *logisticPath) (*Model, error) {
	if t.fit.Len() == 0 || t.heldOut.Len() == 0 {
		return f.Model, nil
	}
	if f.Rule == RuleHeldOut {
		return p.problem.model(p.best.answer.x, p.best.answer.lambda), nil
	}
	part, err := newLogistic(t.fit, t.options)
	if err != nil {
		return nil, err
	}
	lambda := part.lambdaOf(t.options.Grid, f.Level)
	a, err := part.solve(ctx, answer{x: part.start}, lambda, solver{t.factor, lastTolerance, t.options.Budget})
	if err != nil {
		return nil, err
	}
	return part.model(a.x, a.lambda), nil
}

// path returns the path on which λ is chosen, and the rule.
func (t *logisticRun) path(all *Rows) (*logisticPath, Rule, error) {
	fit, heldOut, rule := t.fit, t.heldOut, RuleHeldOut
	if fit.Len() == 0 || heldOut.Len() < MinHeldOutRows {
		if all.Len() < 2 {
			return nil, RuleLargest, nil
		}
		fit, heldOut = all.fold(min(folds, all.Len()))
		rule = RuleFolds
	}
	problem, err := newLogistic(fit, t.options)
	if err != nil {
		return nil, "", err
	}
	return &logisticPath{
		grid:    t.options.Grid,
		solver:  solver{t.factor, pathTolerance, t.options.Budget.Within(pathShare)},
		problem: problem,
		heldOut: heldOut,
	}, rule, nil
}

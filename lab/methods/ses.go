package methods

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/scoring"
)

// steinRows is the number of sample rows on which SES approximates the kernel.
const steinRows = 1000

var stein = &compare.Method{
	Name: "ses", Title: "Stein effect shrinkage (SES)",
	Source: "Chang, Li, Yang, Póczos, IJCAI 2017",
	Summary: "Plain features with non-negative weights that bring their kernel nearest to the exact one " +
		"on a thousand rows, " +
		"with a penalty that is chosen by the kernel's error on held-out rows; labels are not used.",
	Select: selectStein,
}

func selectStein(_ context.Context, t *compare.Trial) (*compare.Selected, error) {
	x, rows, _ := t.Sample()
	c := t.Candidates()
	some, kept := spread(x, rows, c.Dim, steinRows)
	w, _, err := steinWeights(c, t.M, some, kept)
	if err != nil {
		return nil, err
	}
	return w.selected(c, rowsNote("weights", kept, rows)), nil
}

// steinFit describes the fit of steinWeights.
type steinFit struct {
	// Beta holds the weights of the m features, 1/m each for plain features.
	Beta []float64
	// Penalty is μ in units of the mean diagonal of the quadratic form.
	Penalty float64
	// Error is ‖K − K̂‖/‖K‖ over the held-out rows, for weights fitted on the others; PlainError is
	// the error of equal weights.
	Error, PlainError float64
}

// minSteinRows is the minimum number of rows, half of which are held out.
const minSteinRows = 4

// steinPenalties are the values of μ, in units of the mean diagonal, in falling order; each fit
// starts from the previous one.
var steinPenalties = []float64{1e2, 1e1, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}

// steinWeights weighs the first m candidates of c, plain random features, as Chang, Li, Yang and
// Póczos propose, "Data-driven Random Fourier Features using Stein Effect" (IJCAI 2017): β ≥ 0
// minimises
//
//	‖K − Φ·diag(β)·Φᵀ‖²_F + μ·‖β‖²
//
// over the given rows, K their exact kernel and Φ their features times √kernelFactor; features are
// then √β·φ. x is row-major [rows·Dim]; the time grows with rows²·(m + Dim) + rows·m² + m³, so use
// a sample of about a thousand rows. μ is chosen by the kernel's error on every second row with
// weights from the others; then all rows determine the weights. Labels are not used. It fails with
// fewer than 4 rows, if the kernel has no closed form, and if the kernel or all features vanish on
// the rows.
func steinWeights(c scoring.Candidates, m int, x []float32, rows int) (weighting, steinFit, error) {
	k, err := kernelOf(c)
	if err != nil {
		return weighting{}, steinFit{}, err
	}
	if m < 1 || m > c.Count || len(x) != rows*c.Dim {
		panic(fmt.Sprintf("methods: %d of %d candidates on %d numbers for %d rows of %d", m, c.Count, len(x), rows, c.Dim))
	}
	if rows < minSteinRows {
		return weighting{}, steinFit{}, fmt.Errorf("weigh features: %d rows, want %d or more", rows, minSteinRows)
	}
	whole := newSteinProblem(k, c, m, everySecondLast(x, rows, c.Dim), rows)
	fit, err := whole.choosePenalty()
	if err == nil {
		fit.Beta, err = whole.solve(fit.Penalty, allFree(m))
	}
	if err != nil {
		return weighting{}, steinFit{}, fmt.Errorf("weigh features: %w", err)
	}
	w := steinWeighting(fit.Beta)
	if len(w.index) == 0 {
		return weighting{}, steinFit{}, errors.New("weigh features: every weight is 0")
	}
	return w, fit, nil
}

// everySecondLast returns the rows 0, 2, 4, ... and then 1, 3, 5, ...: similar halves in any order
// of the rows.
func everySecondLast(x []float32, rows, dim int) []float32 {
	turned := make([]float32, 0, len(x))
	for parity := range 2 {
		for r := parity; r < rows; r += 2 {
			turned = append(turned, x[r*dim:(r+1)*dim]...)
		}
	}
	return turned
}

// steinWeighting keeps the features with positive weights: √(m·β) times the scale 1/√m.
func steinWeighting(beta []float64) weighting {
	m := float64(len(beta))
	w := weighting{scale: scaleOf(len(beta))}
	for i, b := range beta {
		if b > 0 {
			w.index, w.score = append(w.index, int32(i)), append(w.score, b)
			w.weight = append(w.weight, float32(math.Sqrt(m*b)))
		}
	}
	return w
}

// steinProblem is the least-squares problem over some rows.
type steinProblem struct {
	phi, kernel *mat.Dense
	form        *mat.SymDense // a = (ΦᵀΦ)∘(ΦᵀΦ)
	target      []float64     // b_m = φ_mᵀKφ_m
}

func newSteinProblem(k kernelFunction, c scoring.Candidates, m int, x []float32, rows int) *steinProblem {
	index := make([]int32, m)
	for i := range index {
		index[i] = int32(i)
	}
	phi := features(c.Draw(index), x, rows)
	phi.Scale(math.Sqrt(kernelFactor(c.Map)), phi)
	return steinProblemOf(phi, mat.NewDense(rows, rows, kernelMatrix(k, x, rows, c.Dim)))
}

// steinProblemOf returns the problem of features, [rows·m], and a kernel matrix, [rows·rows].
func steinProblemOf(phi, kernel *mat.Dense) *steinProblem {
	rows, m := phi.Dims()
	p := &steinProblem{phi: phi, kernel: kernel, form: mat.NewSymDense(m, nil), target: make([]float64, m)}
	var gram, product mat.Dense
	gram.Mul(phi.T(), phi)
	for i := range m {
		for j := range i + 1 {
			p.form.SetSym(i, j, gram.At(i, j)*gram.At(i, j))
		}
	}
	product.Mul(kernel, phi)
	for r := range rows {
		for i := range m {
			p.target[i] += float64(phi.At(r, i) * product.At(r, i))
		}
	}
	return p
}

// rowsFrom returns the problem for rows first..next-1.
func (p *steinProblem) rowsFrom(first, next int) *steinProblem {
	_, m := p.phi.Dims()
	return steinProblemOf(p.phi.Slice(first, next, 0, m).(*mat.Dense),
		p.kernel.Slice(first, next, first, next).(*mat.Dense))
}

// solve returns β for a penalty in units of the mean diagonal.
func (p *steinProblem) solve(penalty float64, free []bool) ([]float64, error) {
	m := len(p.target)
	diagonal := mat.Trace(p.form) / float64(m)
	if !(diagonal > 0) {
		return nil, errors.New("all features are 0 on the rows")
	}
	form := mat.NewSymDense(m, nil)
	form.CopySym(p.form)
	for i := range m {
		form.SetSym(i, i, p.form.At(i, i)+float64(penalty*diagonal))
	}
	return nonnegativeMinimum(form, p.target, free)
}

// error returns ‖K − Φ·diag(β)·Φᵀ‖/‖K‖, by ‖K‖² − 2bᵀβ + βᵀaβ.
func (p *steinProblem) error(beta []float64) (float64, error) {
	norm := mat.Norm(p.kernel, 2)
	if norm == 0 {
		return 0, errors.New("the kernel is 0 on the rows")
	}
	b, target := mat.NewVecDense(len(beta), beta), mat.NewVecDense(len(beta), p.target)
	squares := float64(norm*norm) - float64(2*mat.Dot(b, target)) + mat.Inner(b, p.form, b)
	return math.Sqrt(max(squares, 0)) / norm, nil
}

// choosePenalty returns the penalty with the smallest error on the second part of the rows.
func (p *steinProblem) choosePenalty() (steinFit, error) {
	rows, m := p.phi.Dims()
	first, second := p.rowsFrom(0, (rows+1)/2), p.rowsFrom((rows+1)/2, rows)
	equal := make([]float64, m)
	for i := range equal {
		equal[i] = 1 / float64(m)
	}
	fit := steinFit{Error: math.Inf(1)}
	var err error
	if fit.PlainError, err = second.error(equal); err != nil {
		return steinFit{}, err
	}
	free := allFree(m)
	for _, penalty := range steinPenalties {
		beta, err := first.solve(penalty, free)
		if err != nil {
			return steinFit{}, err
		}
		if e, err := second.error(beta); err == nil && e < fit.Error {
			fit.Penalty, fit.Error = penalty, e
		}
	}
	return fit, nil
}

// allFree returns m times true.
func allFree(m int) []bool {
	free := make([]bool, m)
	for i := range free {
		free[i] = true
	}
	return free
}

package scoring

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// DefaultRounds is R, the rounds of the residual criterion where nothing else is said.
const DefaultRounds = 3

const (
	// poolFactor times the features that a round finds is the size of its pool.
	poolFactor = 5
	// residualRidge is the ridge of the residual criterion's fits, relative to the variance of a feature.
	residualRidge = 1e-4
)

// ResidualPlan is the state of the residual criterion between two passes over the rows: what was chosen, the model on it,
// and what the next pass is to sum. It is a value without secrets: whoever makes a pass needs the plan, the
// candidates and the rows, and nobody fits again what the plan has fitted. Treat it as immutable.
//
// The criterion chooses M features in R rounds of two passes, after the greedy selection of random features of Shahrampour
// and Tarokh ("Learning Bounds for Greedy Approximation with Explicit Feature Maps from Multiple Kernels", NeurIPS
// 2018). The first pass of a round scores all candidates against the residual of the model so far, in round 1 against
// the outputs themselves; the best by correlation are its pool. The second sums the second moments of the kept
// features and the pool, and from these features are chosen one by one, each the one that lowers the ridge
// objective most ([ResidualPlan.AfterGram]). A round ends with a refit of the weights of all kept features.
//
// Where no candidate's correlation with the residual exceeds the level of noise, [HoeffdingRadius], the rounds end and
// the best of the first pass by [Correlation] take the places that are left: with few rows, what comes
// from noise would only look like a gain.
type ResidualPlan struct {
	// Features is M, Rounds is R, at most M.
	Features int `json:"features"`
	Rounds   int `json:"rounds"`
	// Round is the round in hand, from 1 on.
	Round int `json:"round"`
	// Done says that there is no further pass.
	Done bool `json:"done,omitempty"`
	// Pool are the candidates from which the round chooses. With a pool, the next pass sums the Gram of kept
	// features, pool and outputs; without one, scores.
	Pool []int32 `json:"pool,omitempty"`

	// Rows is n and Candidates M0, found by the first pass. All passes go over the same rows.
	Rows       int64 `json:"rows,omitempty"`
	Candidates int   `json:"candidates,omitempty"`
	// Coding is that of the outputs, found by the first pass.
	Coding Coding `json:"coding,omitzero"`
	// Kept are the features chosen so far, in the order of choice; their Score is the fall of Σ_k of the mean squared
	// residual of the coded outputs, penalty included, that came with each.
	Kept Chosen `json:"kept,omitzero"`
	// AboveNoise counts the kept whose correlation with the residual exceeded the level of noise when they were chosen.
	AboveNoise int `json:"above_noise,omitempty"`
	// Fill are the M best of the first pass by correlation; their Score is that of [Correlation].
	Fill Chosen `json:"fill,omitzero"`
	// Intercept and Weight are the model of the raw outputs on the kept features: f_k(x) = Intercept[k] +
	// Σ_j Weight[k·len(Kept)+j]·φ_j(x).
	Intercept []float64 `json:"intercept,omitempty"`
	Weight    []float64 `json:"weight,omitempty"`
}

// Chosen are candidates with what a [Selection] says of them.
type Chosen struct {
	Index             []int32   `json:"index"`
	Score             []float64 `json:"score"`
	S                 []float64 `json:"s"` // row-major by feature [len(Index)·K]
	LargeSampleRadius []float64 `json:"large_sample_radius"`
}

// NewResidualPlan returns the plan of the first pass: M features in the given number of rounds, 0 meaning [DefaultRounds].
// It panics when a number is negative or features is 0.
func NewResidualPlan(features, rounds int) *ResidualPlan {
	if features < 1 || rounds < 0 {
		panic(fmt.Sprintf("scoring: residual plan of %d features and %d rounds", features, rounds))
	}
	if rounds == 0 {
		rounds = DefaultRounds
	}
	return &ResidualPlan{Features: features, Rounds: min(rounds, features), Round: 1}
}

// outputs returns K; the first pass has found it.
func (p *ResidualPlan) outputs() int { return len(p.Coding.Gain) }

// first reports whether the next pass is the first one.
func (p *ResidualPlan) first() bool { return p.Round == 1 && p.Pool == nil && !p.Done }

// wanted returns how many features the round in hand is to find: M·round/R in all, with what earlier rounds left.
func (p *ResidualPlan) wanted() int { return p.Features*p.Round/p.Rounds - len(p.Kept.Index) }

// PoolSize returns how many candidates a pool has at most: 5·M/R, rounded up.
func (p *ResidualPlan) PoolSize() int {
	return poolFactor * ((p.Features + p.Rounds - 1) / p.Rounds)
}

// ResidualColumns bounds the columns of a Gram of the residual criterion with so many features, rounds (0 for
// [DefaultRounds]), candidates and outputs.
func ResidualColumns(features, rounds, candidates, outputs int) int {
	p := NewResidualPlan(features, rounds)
	kept := features * (p.Rounds - 1) / p.Rounds
	return kept + min(p.PoolSize(), max(candidates-kept, 1)) + outputs
}

// Columns returns how many columns the Gram of the pass has: kept features, pool and outputs.
func (p *ResidualPlan) Columns() int { return len(p.Kept.Index) + len(p.Pool) + p.outputs() }

// columns returns the candidates of the Gram in the order of its columns.
func (p *ResidualPlan) columns() []int32 { return slices.Concat(p.Kept.Index, p.Pool) }

// radius returns the level of noise of a correlation.
func (p *ResidualPlan) radius() float64 {
	return HoeffdingRadius(p.Candidates, p.outputs(), p.Rows, Delta)
}

// Selection returns the outcome: the features chosen by residual in the order of choice, then the best by correlation that
// are not among them. Score of the one kind and of the other are not to be compared. It panics unless p is Done.
func (p *ResidualPlan) Selection() Selection {
	if !p.Done {
		panic("scoring: selection of a residual plan that has passes before it")
	}
	outputs := p.outputs()
	var sel Selection
	take := func(from *Chosen, i int) {
		sel.Index = append(sel.Index, from.Index[i])
		sel.Score = append(sel.Score, from.Score[i])
		sel.S = append(sel.S, from.S[i*outputs:(i+1)*outputs]...)
		sel.LargeSampleRadius = append(sel.LargeSampleRadius, from.LargeSampleRadius[i])
	}
	for i := range p.Kept.Index {
		take(&p.Kept, i)
	}
	for i := 0; len(sel.Index) < p.Features; i++ {
		if !slices.Contains(p.Kept.Index, p.Fill.Index[i]) {
			take(&p.Fill, i)
		}
	}
	sel.Best, sel.Cutoff = sel.Score[0], sel.Score[p.Features-1]
	sel.Radius, sel.Coding = p.radius(), p.Coding
	sel.AboveNoise, sel.ByResidual = p.AboveNoise, len(p.Kept.Index)
	return sel
}

// Validate returns every fault of a plan that came from outside, joined.
func (p *ResidualPlan) Validate() error {
	if p.Features < 1 || p.Rounds < 1 || p.Rounds > p.Features || p.Round < 1 || p.Round > p.Rounds {
		return fmt.Errorf("round %d of %d for %d features", p.Round, p.Rounds, p.Features)
	}
	if p.first() {
		if p.Rows != 0 || len(p.Kept.Index) > 0 || len(p.Fill.Index) > 0 || p.outputs() > 0 || len(p.Weight) > 0 {
			return errors.New("a plan of the first pass has outcomes of passes")
		}
		return nil
	}
	if p.Rows < 1 || p.outputs() < 1 || len(p.Coding.Offset) != p.outputs() {
		return fmt.Errorf("%d rows, coding of %d gains and %d offsets", p.Rows, p.outputs(), len(p.Coding.Offset))
	}
	if len(p.Kept.Index) > p.Features || len(p.Fill.Index) != p.Features || p.Features > p.Candidates {
		return fmt.Errorf("%d kept and %d to fill up with for %d features of %d candidates",
			len(p.Kept.Index), len(p.Fill.Index), p.Features, p.Candidates)
	}
	return errors.Join(
		p.Kept.check("kept", p.outputs(), p.Candidates), p.Fill.check("fill", p.outputs(), p.Candidates),
		checkDistinct("kept and pool", p.columns(), p.Candidates), p.checkModel(),
		checkFinite("gain", p.Coding.Gain), checkFinite("offset", p.Coding.Offset),
	)
}

// checkModel reports a model that does not fit the kept features.
func (p *ResidualPlan) checkModel() error {
	kept := len(p.Kept.Index)
	if kept == 0 && len(p.Weight) == 0 && len(p.Intercept) == 0 {
		return nil
	}
	if len(p.Intercept) != p.outputs() || len(p.Weight) != p.outputs()*kept {
		return fmt.Errorf("%d intercepts and %d weights for %d outputs of %d features",
			len(p.Intercept), len(p.Weight), p.outputs(), kept)
	}
	return errors.Join(checkFinite("intercept", p.Intercept), checkFinite("weight", p.Weight))
}

// check reports lists that do not agree.
func (c *Chosen) check(name string, outputs, candidates int) error {
	n := len(c.Index)
	if len(c.Score) != n || len(c.S) != n*outputs || len(c.LargeSampleRadius) != n {
		return fmt.Errorf("%s: %d indices, %d scores, %d values of S, %d radii",
			name, n, len(c.Score), len(c.S), len(c.LargeSampleRadius))
	}
	return errors.Join(checkDistinct(name, c.Index, candidates), checkFinite(name+" score", c.Score),
		checkFinite(name+" s", c.S), checkSquares(name+" radius", c.LargeSampleRadius))
}

// checkDistinct reports an index that is repeated or beyond the candidates.
func checkDistinct(name string, index []int32, candidates int) error {
	seen := make(map[int32]bool, len(index))
	for _, i := range index {
		if i < 0 || int(i) >= candidates || seen[i] {
			return fmt.Errorf("%s: candidate %d is repeated or not within 0..%d", name, i, candidates-1)
		}
		seen[i] = true
	}
	return nil
}

// largeSample returns √(2·log(2·M0·K/δ)·(Σφ²/n - Ŝ²)/n) for a feature of that mean square, the greatest over its scores.
func (p *ResidualPlan) largeSample(meanSquare float64, scores []float64) float64 {
	least := math.Inf(1)
	for _, score := range scores {
		least = min(least, float64(score*score))
	}
	return math.Sqrt(2 * unionLog(p.Candidates, p.outputs(), Delta) * max(meanSquare-least, 0) / float64(p.Rows))
}

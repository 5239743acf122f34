package adaptive

import (
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

const (
	// DefaultRefineSteps is the default number of refinement steps.
	DefaultRefineSteps = 40
	// DefaultRefineRounds is the default number of rounds in the refinement.
	DefaultRefineRounds = 1
	// lastRound is the number of the last round before the refinement; the first is 0.
	lastRound = 3
)

// AllRounds returns how many rounds [Learn] makes at most, those in the refinement among them.
func (o Options) AllRounds() int {
	if o.RefineSteps == 0 {
		return lastRound + 1
	}
	return lastRound + 1 + o.RefineRounds
}

// FirstRound returns the candidates of round 0: those of c, which are varied. c must pass [scoring.Criterion.Check].
func FirstRound(c scoring.Candidates) scoring.Candidates {
	c.Varied = true
	return c
}

// Plain returns the candidates that criterion residual would have instead of those of [FirstRound].
func Plain(c scoring.Candidates) scoring.Candidates {
	c.Varied = false
	return c
}

// Options say what [Learn] makes and with what means.
type Options struct {
	// Features is M.
	Features int
	// Rounds is R of each choice by residual; 0 means [scoring.DefaultRounds].
	Rounds int
	// RefineSteps is how many steps the refinement takes at most, at first and after each of RefineRounds; 0 leaves it out.
	RefineSteps int
	// RefineRounds is how many rounds are drawn by what the refinement has found.
	RefineRounds int
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
	// Progress is called with every point as it is measured; may be nil.
	Progress func(Point)
}

// Kind says how the features of a point came about.
type Kind string

// The kinds of points.
const (
	// ByResidual are those that criterion residual chooses.
	ByResidual Kind = "residual"
	// ByRound are those that a round chose.
	ByRound Kind = "round"
	// ByStep are those that the refinement has moved.
	ByStep Kind = "step"
)

// Point is a set of features on the way, as the guard measured it.
type Point struct {
	Kind Kind `json:"kind"`
	// Round is the round that chose the features, from 0 on; of a step, that of the features that are moved.
	Round int `json:"round"`
	// Step is how many steps the refinement has taken from the features of the round.
	Step int `json:"step,omitempty"`
	// Loss is the squared loss on the held-out rows at the best λ, as a share of the variance of the outputs, averaged over them.
	Loss float64 `json:"held_out_loss"`
	// StdErr is the standard error of Loss over the held-out rows.
	StdErr float64 `json:"standard_error"`
}

// Report says how features were learned.
type Report struct {
	// Points are in the order in which they were measured; Winner is the number of the one that became the result.
	Points []Point `json:"points"`
	Winner int     `json:"winner"`
	// Rows is how many rows were learned from, HeldOutRows by how many the points were judged.
	Rows        int64 `json:"rows"`
	HeldOutRows int64 `json:"held_out_rows"`
	// Importance is the share of each encoded column in the mean squared gradient of the model: the diagonal of G divided by its sum,
	// [Dim]; nil where no model has a gradient.
	Importance []float64 `json:"importance,omitempty"`
}

// Best returns the point that won.
func (r *Report) Best() Point { return r.Points[r.Winner] }

// Learned is what [Learn] found.
type Learned struct {
	// Selection describes the features, best first. Index and Round say where each was drawn: a candidate of the pool of round Round-1;
	// refinement has moved it since. Score is Σ_k of the mean square that a feature contributes to the model of the coded outputs, its
	// weights squared times its variance. Radius, AboveNoise and ByResidual are those of residual where that won and zero elsewhere.
	Selection scoring.Selection
	// Features are frequencies and phases for publication, in the order of Selection.
	Features *scoring.Features
	// Candidates are those that Selection.Index numbers, where the features are candidates as they were drawn; else nil.
	Candidates *scoring.Candidates
	Report     Report
	// RoundTime and RefineTime are what the rounds and the refinement took, guard included.
	RoundTime, RefineTime time.Duration
}

// FeatureSet returns the set of the learned features: weights 1, scale 1/√M.
func (l *Learned) FeatureSet() *scoring.FeatureSet {
	return scoring.NewFeatureSetOf(l.Features, l.Selection)
}

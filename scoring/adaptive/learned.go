package adaptive

import (
	"github.com/eerf-stream/eerf/scoring"
)

const (
	// DefaultFeatures is M unless another number is asked for.
	DefaultFeatures = 500
	// DefaultRows is how many rows are sampled at most.
	DefaultRows = 20_000
	// DefaultRefineSteps is the default number of refinement steps.
	DefaultRefineSteps = 40
	// DefaultRefineRounds is the default number of rounds in the refinement.
	DefaultRefineRounds = 1
	// lastRound is the number of the last round before the refinement; the first is 0.
	lastRound = 3
)

// AllRounds returns how many rounds [Learn] makes at most, those of all tracks and those after them.
func (o Options) AllRounds() int {
	switch tracks := len(o.tracks()); {
	case o.ChooseOnly:
		return 1
	case o.RefineSteps == 0:
		return tracks * (lastRound + 1)
	default:
		return tracks*(lastRound+1) + o.RefineRounds
	}
}

// Track names rounds whose pools have features of certain kinds.
type Track string

// The tracks.
const (
	// Mixed has all kinds in its pools.
	Mixed Track = "mixed"
	// Cosines has cosines only, all of which can be refined and more of which fit into a pool.
	Cosines Track = "cosine"
	// Both are the rounds after these, from what both have found.
	Both Track = "both"
)

// tracks returns those that are learned side by side.
func (o Options) tracks() []Track {
	if o.CosinesOnly {
		return []Track{Cosines}
	}
	return []Track{Mixed, Cosines}
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
	// Features is M, the most features.
	Features int
	// Rounds is R of each choice by residual; 0 means [scoring.DefaultRounds].
	Rounds int
	// RefineSteps is how many steps the refinement takes at most, at first and after each of RefineRounds; 0 leaves it out.
	RefineSteps int
	// RefineRounds is how many rounds are drawn by what the refinement has found.
	RefineRounds int
	// Columns says which column of the events each encoded one comes from, [Dim]; nil means that each is of its own.
	Columns []int32
	// CosinesOnly learns no other kinds. ChooseOnly learns nothing: it chooses from the candidates as criterion residual does, and keeps
	// as many as the guard finds best.
	CosinesOnly, ChooseOnly bool
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
	// Track is the track of the round, none by residual.
	Track Track `json:"track,omitempty"`
	// Round is the round that chose the features, from 0 on in each track; of a step, that of the features that are moved.
	Round int `json:"round"`
	// Step is how many steps the refinement has taken from the features of the round.
	Step int `json:"step,omitempty"`
	// Features is how many features the set has: as many of those chosen as were best.
	Features int `json:"features,omitempty"`
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
	// Importance is the share of each encoded column in what the model varies by, [Dim]: of cosines and ramps in its mean squared
	// gradient, the diagonal of G, of hinges and boxes in what they contribute; nil where nothing varies or nothing was learned.
	Importance []float64 `json:"importance,omitempty"`
}

// Best returns the point that won.
func (r *Report) Best() Point { return r.Points[r.Winner] }

// Learned is what [Learn] found.
type Learned struct {
	// Selection describes the features, within each kind the best first. Index and Round say where each was drawn: a candidate of a pool,
	// and the number of that pool, from 1 on; refinement has moved it since. Score is Σ_k of the mean square that a feature contributes to
	// the model of the coded outputs, its weights squared times its variance. Radius and AboveNoise are zero. With ChooseOnly it is that
	// of criterion residual, in the order of choice.
	Selection scoring.Selection
	// Features are those for publication, in the order of Selection.
	Features *scoring.Features
	Report   Report
}

// FeatureSet returns the set of the learned features: weights 1, scale 1/√M.
func (l *Learned) FeatureSet() *scoring.FeatureSet {
	return scoring.NewFeatureSetOf(l.Features, l.Selection)
}

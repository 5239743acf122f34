package adaptive

import (
	"github.com/eerf-stream/eerf/scoring"
)

const (
	// DefaultFeatures is the default of M.
	DefaultFeatures = 1000
	// DefaultRows is the default of the greatest number of sampled rows.
	DefaultRows = 20_000
	// DefaultRefineSteps is the default number of refinement steps.
	DefaultRefineSteps = 40
	// DefaultRefineRounds is the default number of rounds in the refinement.
	DefaultRefineRounds = 1
	// mostMembers is the greatest default number of members, memberFeatures the number of features
	// for which there is one: smaller members lose more than their mean gains.
	mostMembers, memberFeatures = 4, 250
	// lastRound is the number of the last round before the refinement; the first is 0.
	lastRound = 3
)

// DefaultMembers returns the default number of members of a set with this number of features.
func DefaultMembers(features int) int { return max(1, min(mostMembers, features/memberFeatures)) }

// AllRounds returns the greatest number of rounds of [Learn]: the rounds of all members.
func (o Options) AllRounds() int { return o.members() * o.rounds() }

// rounds returns the greatest number of rounds of a member: the rounds of all tracks and those
// after them.
func (o Options) rounds() int {
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
	// Mixed draws pools of all kinds.
	Mixed Track = "mixed"
	// Cosines draws only cosines, all of which can be refined and more of which fit into a pool.
	Cosines Track = "cosine"
	// Both is the rounds after these, which start from the results of both.
	Both Track = "both"
)

// tracks returns the tracks before the last rounds.
func (o Options) tracks() []Track {
	if o.CosinesOnly {
		return []Track{Cosines}
	}
	return []Track{Mixed, Cosines}
}

// FirstRound returns the candidates of round 0: c with varied candidates. c must pass
// [scoring.Criterion.Check].
func FirstRound(c scoring.Candidates) scoring.Candidates {
	c.Varied = true
	return c
}

// Plain returns c without varied candidates, for criterion residual.
func Plain(c scoring.Candidates) scoring.Candidates {
	c.Varied = false
	return c
}

// Options are the options of [Learn].
type Options struct {
	// Features is M, the greatest number of features.
	Features int
	// Rounds is R of each choice by residual; 0 means [scoring.DefaultRounds].
	Rounds int
	// RefineSteps is the greatest number of steps of a refinement, at first and after each of
	// RefineRounds; 0 disables refinement.
	RefineSteps int
	// RefineRounds is the number of rounds that are drawn from refined features.
	RefineRounds int
	// Members is the number of sets that are learned independently of each other, each from its
	// share of the features and candidates, and published as one; 0 means 1.
	Members int
	// Columns is the event column from which each encoded column comes, [Dim]; nil means one event
	// column each.
	Columns []int32
	// CosinesOnly learns no other kinds. ChooseOnly learns nothing: it chooses from the candidates
	// as criterion residual does, and keeps as many as the guard finds best.
	CosinesOnly, ChooseOnly bool
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
	// Progress is called with every point as it is measured; may be nil.
	Progress func(Point)
	// Stop is called between steps of about a second at most; learning ends with its error. It may
	// be nil.
	Stop func() error
}

// Kind is the origin of the features of a point.
type Kind string

// The kinds of points.
const (
	// ByResidual marks features that criterion residual chose.
	ByResidual Kind = "residual"
	// ByRound marks features that a round chose.
	ByRound Kind = "round"
	// ByStep marks features that the refinement moved.
	ByStep Kind = "step"
	// ByMean marks the features of all members. Its loss is that of the mean of their models.
	ByMean Kind = "mean"
)

// Point is an intermediate set of features with the guard's measurement.
type Point struct {
	Kind Kind `json:"kind"`
	// Member is the number of the member, counted from 1; 0 if there is only one, and for ByMean.
	Member int `json:"member,omitempty"`
	// Track is the track of the round, empty for ByResidual and ByMean.
	Track Track `json:"track,omitempty"`
	// Round is the round that chose the features, counted from 0 in each track. For a step, it is
	// the round that chose the moved features.
	Round int `json:"round"`
	// Step is the number of refinement steps since the round.
	Step int `json:"step,omitempty"`
	// Features is the number of features that the guard keeps.
	Features int `json:"features,omitempty"`
	// Loss is the squared loss on the held-out rows at the best λ, as a share of the variance of
	// the outputs, averaged over outputs.
	Loss float64 `json:"held_out_loss"`
	// StdErr is the standard error of Loss over the held-out rows.
	StdErr float64 `json:"standard_error"`
}

// Report describes how features were learned.
type Report struct {
	// Points are in the order of measurement. Winner is the index of the point that became the
	// result: the point of the least loss, or the mean of several members, for each of which its
	// point of the least loss was taken.
	Points []Point `json:"points" bound:"list 4096"`
	Winner int     `json:"winner"`
	// Rows is the number of training rows, HeldOutRows the number of rows on which the points were
	// judged.
	Rows        int64 `json:"rows"`
	HeldOutRows int64 `json:"held_out_rows"`
	// Importance is the share of each encoded column in the variation of the model, [Dim]: from the
	// mean squared gradient (the diagonal of G) for cosines and ramps, and from the contributed
	// variance for hinges and boxes. It is nil if nothing varies or nothing was learned.
	Importance []float64 `json:"importance,omitempty" bound:"list 65536 of -1e9..1e9"`
}

// Best returns the point that won.
func (r *Report) Best() Point { return r.Points[r.Winner] }

// Learned is the result of [Learn].
type Learned struct {
	// Selection describes the features, the members one after another within each kind and the
	// best first within a member. Index and Round are the
	// origin of each before its refinement: the number of a candidate in a pool, and of the pool,
	// counted from 1. Score is the variance that a feature contributes to the model of the coded
	// outputs, summed over them: its squared weights times its variance. Radius and AboveNoise are
	// zero. With ChooseOnly it is the selection by criterion residual, in the order of choice.
	Selection scoring.Selection
	// Features are the features for publication, in the order of Selection.
	Features *scoring.Features
	// Members has the bit 1<<j for each feature of member j; nil if there is one member.
	Members []int32
	Report  Report
}

// FeatureSet returns the set of the learned features: weights 1, scale 1/√M.
func (l *Learned) FeatureSet() *scoring.FeatureSet {
	set := scoring.NewFeatureSetOf(l.Features, l.Selection)
	set.Members = l.Members
	return set
}

package adaptive

import (
	"time"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Bytes bounds the memory of [Learn] for a number of rows and outputs, including the sums and the
// sample that it is given. It counts live memory, not garbage.
// Members are learned one after another: all but the first keep the features of earlier ones.
func Bytes(c scoring.Candidates, rows, outputs int, o Options) int64 {
	if members := o.members(); members > 1 {
		one, whole := c, o
		one.Count, o.Features, o.Members = o.shares(c.Count)[0].pool, evenly(o.Features, 1, members), 1
		joined := 2*int64(whole.Features)*int64(4*(c.Dim+1)+8*(outputs+6)) + 24*int64(rows)*int64(outputs)
		sums := 8 * int64(c.Count) * int64(2+outputs)
		return Bytes(one, rows, outputs, o) + joined + sums
	}
	s := size{
		n: int64(rows), d: int64(c.Dim), k: int64(outputs), m0: int64(c.Count), m: int64(o.Features),
	}
	choosing := scoring.SelectOptions{Criterion: scoring.Residual, Features: o.Features, Rounds: o.Rounds}
	work, pool := s.measuring(), c
	if !o.ChooseOnly {
		work = max(work, s.drawing())
		if !o.CosinesOnly {
			choosing.Bins = []int32{}
			bins := int64(binsPerCandidate+1)*s.m0 + 2*s.d
			bins = min(bins, int64(2*binThresholds+1)*s.d)
			pool.Count += int(bins)
			work += 4*s.n*s.d + 64*(s.m0+bins) // columns; products and their origins
		}
	}
	if o.RefineSteps > 0 {
		work = max(work, s.refining()+s.measuring())
	}
	bytes := scoring.SelectBytes(pool, rows, outputs, choosing)
	bytes += s.kept(o) + work + scoring.FeatureStoreBytes(pool.Count, rows, storeBytes)
	return bytes + bytes/8 // the allocator rounds up by no more
}

// size is the quantities on which memory depends: N, d, K, M0 and M.
type size struct{ n, d, k, m0, m int64 }

// kept is the memory that stays until the end: the rows in two parts, which grow by append, the
// identities of those held out, and the features of the points.
func (s size) kept(o Options) int64 {
	points := int64(o.rounds() + (len(o.tracks())+o.RefineRounds)*(o.RefineSteps/guardedSteps+1))
	return 5*s.n*(s.d+2*s.k) + 4*s.n*s.k + 12*s.n + points*(4*s.m*(s.d+1)+8*s.m*(s.k+6))
}

// evaluating is the memory of features and slopes of all rows, and of their moments.
func (s size) evaluating() int64 {
	return 4*s.n*s.m + training.TallBytes(int(s.n), int(s.m+panel)) + 4*(s.m+2*panel)*s.d + s.moments()
}

// panel is the number of columns to which matrices may be rounded up.
const panel = training.PanelColumns

// moments is the memory of the sums of M features and the outputs, a covariance matrix and its
// factor.
func (s size) moments() int64 {
	return 2*training.SumsBytes(int(s.m), int(s.k)) + 2*8*(s.m+panel)*(s.m+panel)
}

// drawing is the memory of G, with the pool drawn from it or the features from which it is
// computed.
func (s size) drawing() int64 {
	least := min(s.m, s.d)
	g := 8 * (3*(s.m+panel)*(s.m+panel) + 4*s.m*s.d + 4*least*least + 2*least*s.d)
	turners := 2 * (2*8*(s.d+panel)*(s.d+panel) + 4*(s.d+panel)*(s.d+turnedAtOnce) + 2*8*turnedAtOnce*(s.d+panel))
	few := min(s.n, bandwidthRows)
	bandwidths := 4*3*(few+panel)*s.d + 2*8*(few+panel)*(few+panel)
	pool := 4 * s.m0 * (2*s.d + 1)
	return g + max(s.evaluating(), turners+bandwidths+pool)
}

// measuring is the memory of the moments of both parts of the rows, and of the models of a ridge
// path.
func (s size) measuring() int64 {
	const levels = 16
	return 2*s.moments() + 3*8*(s.m+panel)*(s.m+panel) + levels*8*s.k*(s.m+panel)*3 + 4*scoring.BlockRows*(s.m+s.k)
}

// searched is the number of parameter vectors that a search keeps in addition to its history.
const searched = 16

// refining is the memory of the objective and of the steps in the search's history.
func (s size) refining() int64 {
	parameters := s.m * max(s.d+1, scoring.MaxOrder)
	objective := s.evaluating() + training.TallBytes(int(s.n), int(s.d)+1) + 4*s.n*s.k + 24*(s.m+2*panel)*s.k +
		8*(s.m+2*panel)*(s.d+1+panel) + 8*parameters
	return objective + 8*parameters*(2*memory+searched)
}

// Nanoseconds per unit that [Time] counts, and the equivalents of other work in these units. They
// were fitted to public data sets.
const (
	perSquare     = 0.027
	perProduct    = 0.007
	perCube       = 0.12
	choiceSquares = 6
	scoredNumber  = 40
	scoredOutput  = 8
	pathsPerRound = 10
)

// Time estimates the CPU time of [Learn] on a core with AVX2, to within a factor of two; learning
// takes longer where most features are worth keeping. It counts the terms in M², in M³, and in M
// and M0 (each times the columns of an encoded row).
func Time(c scoring.Candidates, rows, outputs int, o Options) time.Duration {
	if members := o.members(); members > 1 {
		c.Count, o.Features, o.Members = o.shares(c.Count)[0].pool, evenly(o.Features, 1, members), 1
		return time.Duration(members) * Time(c, rows, outputs, o)
	}
	n := float64(rows)
	d := float64(c.Dim)
	k := float64(outputs)
	m0 := float64(c.Count)
	m := float64(o.Features)
	rounds, steps := float64(o.rounds()), 0.
	if !o.ChooseOnly {
		steps = evaluationsPerStep * float64(o.RefineSteps*(len(o.tracks())+o.RefineRounds))
	}
	squares := (rounds*choiceSquares + steps/2) * n * m * m
	products := steps*n*m*(4*d+2*k) + rounds*n*m0*(d+scoredNumber+scoredOutput*k)
	cubes := (rounds*pathsPerRound + steps/guardedSteps) * m * m * m
	return time.Duration(squares*perSquare + products*perProduct + cubes*perCube)
}

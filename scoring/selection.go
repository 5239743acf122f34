package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Selection is the outcome of ranking: the M best of M0 candidates, best first.
type Selection struct {
	// Index is the candidate number of each kept feature, [M].
	Index []int32
	// Round is the round that chose each, counted from 1, [M]; 0 under a criterion without rounds
	// and for features chosen among bins.
	Round []int32
	// Score is the criterion's value of each, [M], falling. Under Residual it is the fall of the
	// objective when the feature was chosen, in the order of choice: Σ_k of the mean squared
	// residual of the coded outputs plus the penalty.
	Score []float64
	// S is Ŝ_k of each, row-major by feature [M·K].
	S []float64
	// Radius is [HoeffdingRadius] at [Delta]; it bounds the error of S when the feature map is
	// bounded.
	Radius float64
	// LargeSampleRadius is the radius of each kept feature from its own variance, [M]; the greatest
	// over the outputs.
	LargeSampleRadius []float64
	// AboveNoise is the number of features that stand out from the noise: whose correlation with an
	// output exceeds Radius, under Energy whose |Ŝ| does, under Residual whose correlation with the
	// residual did when they were chosen.
	AboveNoise int
	// Coding is how the outputs in S are coded.
	Coding Coding
}

// ErrNoRows and ErrConstantLabels report sums that cannot rank candidates.
var (
	ErrNoRows         = errors.New("no rows were scored")
	ErrConstantLabels = errors.New("labels are constant over the rows scored")
)

// Select ranks the candidates of s and keeps the m best; equal values rank by candidate index. It
// fails when m is not in 1..M0, when s is damaged, has no rows ([ErrNoRows]) or labels that never
// differ ([ErrConstantLabels]), and under a criterion that needs rows ([SelectFrom]).
func Select(s *Sums, task Task, criterion Criterion, m int) (Selection, error) {
	if err := checkSelect(s, task, criterion, m); err != nil {
		return Selection{}, err
	}
	sel := s.newSelection(task, m)
	values := criterion.row().values(s, sel.Coding)
	for _, index := range Rank(values)[:m] {
		own := sel.add(s, index, 0, values[index])
		if criterion.row().strength(s, sel.Coding, int(index), own) > sel.Radius {
			sel.AboveNoise++
		}
	}
	return sel, nil
}

// First returns the selection of the first n features.
func (sel *Selection) First(n int) Selection {
	first, outputs := *sel, len(sel.S)/len(sel.Index)
	first.Index = sel.Index[:n]
	first.Round = sel.Round[:n]
	first.Score = sel.Score[:n]
	first.S = sel.S[:n*outputs]
	if sel.LargeSampleRadius != nil {
		first.LargeSampleRadius = sel.LargeSampleRadius[:n]
	}
	first.AboveNoise = min(first.AboveNoise, n)
	return first
}

// newSelection returns an empty selection with room for m features.
func (s *Sums) newSelection(task Task, m int) Selection {
	return Selection{
		Index:             make([]int32, 0, m),
		Round:             make([]int32, 0, m),
		Score:             make([]float64, 0, m),
		S:                 make([]float64, 0, m*s.Outputs()),
		LargeSampleRadius: make([]float64, 0, m),
		Radius:            HoeffdingRadius(s.Candidates(), s.Outputs(), s.Rows, Delta),
		Coding:            s.Coding(task),
	}
}

// add appends a candidate with its scores and radius from the sums s, and returns its scores, [K].
func (sel *Selection) add(s *Sums, candidate, round int32, value float64) (scores []float64) {
	sel.Index = append(sel.Index, candidate)
	sel.Round = append(sel.Round, round)
	sel.Score = append(sel.Score, value)
	before := len(sel.S)
	for k := range s.Outputs() {
		sel.S = append(sel.S, s.score(sel.Coding, int(candidate), k, float64(s.Rows)))
	}
	scores = sel.S[before:]
	sel.LargeSampleRadius = append(sel.LargeSampleRadius, s.largeSampleRadius(int(candidate), scores, Delta))
	return scores
}

// checkSelect returns the reason why Select cannot rank s.
func checkSelect(s *Sums, task Task, criterion Criterion, m int) error {
	if err := errors.Join(taskNames.check(task), criterionNames.check(criterion), s.Validate()); err != nil {
		return fmt.Errorf("select features: %w", err)
	}
	if criterion.NeedsRows() {
		return fmt.Errorf("select features: the criterion %v needs the rows that were summed", criterion)
	}
	if m < 1 || m > s.Candidates() {
		return fmt.Errorf("select features: %d asked of %d candidates, want 1 to %d", m, s.Candidates(), s.Candidates())
	}
	if s.Rows == 0 {
		return fmt.Errorf("select features: %w", ErrNoRows)
	}
	for k := range s.Y {
		if s.YMin[k] < s.YMax[k] {
			return nil
		}
	}
	return fmt.Errorf("select features: %w (%d rows)", ErrConstantLabels, s.Rows)
}

// Rank returns the candidate numbers in order of falling value, and of rising number among equals.
func Rank(values []float64) []int32 {
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	})
	return order
}

// greatestScore returns the greatest |Ŝ_k| of a candidate with these scores.
func (s *Sums) greatestScore(_ Coding, _ int, scores []float64) float64 {
	greatest := 0.0
	for _, score := range scores {
		greatest = max(greatest, math.Abs(score))
	}
	return greatest
}

// greatestCorrelation returns the greatest |corr(y_k, φ)| of candidate i.
func (s *Sums) greatestCorrelation(c Coding, i int, _ []float64) float64 {
	greatest := 0.0
	for k := range s.Outputs() {
		greatest = max(greatest, s.correlation(c, i, k))
	}
	return greatest
}

// correlation returns |corr(y_k, φ)| of candidate i, 0 when either is constant.
func (s *Sums) correlation(c Coding, i, k int) float64 {
	spread := s.spread(i)
	deviation := math.Abs(c.Gain[k]) * math.Sqrt(variance(s.Y[k], s.YSq[k], float64(s.Rows)))
	if spread == 0 || deviation == 0 {
		return 0
	}
	return math.Abs(s.covariance(c, i, k)) / (math.Sqrt(spread) * deviation)
}

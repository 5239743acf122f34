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
	// Score is the criterion's value of each, [M], falling.
	Score []float64
	// S is Ŝ_k of each, row-major by feature [M·K].
	S []float64
	// Best and Cutoff are the first and the last of Score.
	Best, Cutoff float64
	// Radius is [HoeffdingRadius] at [Delta]; it bounds the error of S when the feature map is bounded.
	Radius float64
	// LargeSampleRadius is the radius of each kept feature by its own variance, the greatest over its outputs, [M].
	LargeSampleRadius []float64
	// AboveNoise is how many of the M stand out: under Correlation those with an output whose correlation with the feature
	// exceeds Radius, under Energy those with an output whose |Ŝ| does, under Residual those that ResidualPlan counts.
	AboveNoise int
	// ByResidual is, under Residual, how many were chosen against residuals; the others fill up by correlation.
	ByResidual int
	// Coding is how the outputs in S are coded.
	Coding Coding
}

// ErrNoRows and ErrConstantLabels say that sums have nothing to rank candidates by.
var (
	ErrNoRows         = errors.New("no rows were scored")
	ErrConstantLabels = errors.New("labels are constant over the rows scored")
)

// Select ranks the candidates of s and keeps the m best; equal values rank by candidate index. It fails when m is not
// in 1..M0, when s is damaged, has no rows ([ErrNoRows]) or labels that never differ ([ErrConstantLabels]), and under
// Residual, which one pass does not decide ([ResidualPlan]).
func Select(s *Sums, task Task, criterion Criterion, m int) (Selection, error) {
	if err := checkSelect(s, task, criterion, m); err != nil {
		return Selection{}, err
	}
	values := CriterionValues(s, task, criterion)
	coding := s.Coding(task)
	scores := s.Scores(coding)
	outputs := s.Outputs()
	sel := Selection{
		Index:  rank(values)[:m:m],
		Radius: HoeffdingRadius(s.Candidates(), outputs, s.Rows, Delta),
		Coding: coding,
	}
	for _, index := range sel.Index {
		i := int(index)
		own := scores[i*outputs : (i+1)*outputs]
		sel.Score = append(sel.Score, values[i])
		sel.S = append(sel.S, own...)
		sel.LargeSampleRadius = append(sel.LargeSampleRadius, s.largeSampleRadius(i, own, Delta))
		if s.strength(criterion, coding, i, own) > sel.Radius {
			sel.AboveNoise++
		}
	}
	sel.Best, sel.Cutoff = sel.Score[0], sel.Score[m-1]
	return sel, nil
}

// checkSelect reports why Select cannot rank s.
func checkSelect(s *Sums, task Task, criterion Criterion, m int) error {
	if err := errors.Join(taskNames.check(uint8(task)), criterionNames.check(uint8(criterion)), s.Validate()); err != nil {
		return fmt.Errorf("select features: %w", err)
	}
	if criterion == Residual {
		return errors.New("select features: the residual criterion takes more passes than one")
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
	return fmt.Errorf("select features: %w (%d rows, output 0 is always %v)", ErrConstantLabels, s.Rows, s.YMin[0])
}

// rank returns the candidate numbers by falling value, equal ones by number.
func rank(values []float64) []int32 {
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	})
	return order
}

// strength returns what is compared with the noise: the greatest |corr(y_k, φ)|, or the greatest |Ŝ_k|.
func (s *Sums) strength(criterion Criterion, c Coding, i int, scores []float64) float64 {
	greatest := 0.0
	for k, score := range scores {
		v := math.Abs(score)
		if criterion == Correlation {
			v = s.correlation(c, i, k)
		}
		greatest = max(greatest, v)
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

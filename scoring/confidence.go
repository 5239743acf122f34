package scoring

import "math"

// Delta is δ, the probability that some score lies outside its confidence bound.
const Delta = 0.05

// HoeffdingRadius returns r = √(2·log(2·M0·K/δ)/n), Hoeffding's inequality with a union bound: with
// probability at least 1-δ, all M0·K scores of n rows are within r of their expectations, if |y·φ|
// ≤ 1 and the rows are independent of the candidates and the coding. For correlations it is the
// noise level. It is +Inf without rows.
func HoeffdingRadius(candidates, outputs int, rows int64, delta float64) float64 {
	if rows < 1 {
		return math.Inf(1)
	}
	return math.Sqrt(2 * unionLog(candidates, outputs, delta) / float64(rows))
}

// unionLog returns log(2·M0·K/δ), the cost of a statement about all scores at once.
func unionLog(candidates, outputs int, delta float64) float64 {
	return math.Log(2 * float64(candidates) * float64(outputs) / delta)
}

// largeSampleRadius returns √(2·log(2·M0·K/δ)·(Σφ²/n - Ŝ²)/n) of candidate i, the greatest over its
// scores: the radius of a normal approximation, for maps without a bound. |y| ≤ 1, so φ² - Ŝ²
// bounds the variance of y·φ.
func (s *Sums) largeSampleRadius(i int, scores []float64, delta float64) float64 {
	n := float64(s.Rows)
	least := math.Inf(1)
	for _, score := range scores {
		least = min(least, float64(score*score))
	}
	return math.Sqrt(2 * unionLog(s.Candidates(), s.Outputs(), delta) * max(s.PhiSq[i]/n-least, 0) / n)
}

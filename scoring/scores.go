package scoring

// minRelativeVariance is the variance of φ, relative to its mean square, below which a candidate
// counts as a constant without correlations. Float32 features leave rounding noise of this size,
// and dividing by it would rank noise first.
const minRelativeVariance = 1e-6

// Scores returns Ŝ_k = (1/n) Σ y_k φ for all candidates, candidate-major [M0·K]; zeros without
// rows.
func (s *Sums) Scores(c Coding) []float64 {
	m, outputs := s.Candidates(), s.Outputs()
	scores := make([]float64, m*outputs)
	if s.Rows == 0 {
		return scores
	}
	n := float64(s.Rows)
	for i := range m {
		for k := range outputs {
			scores[i*outputs+k] = s.score(c, i, k, n)
		}
	}
	return scores
}

// score returns Ŝ_k of candidate i on n rows.
func (s *Sums) score(c Coding, i, k int, n float64) float64 {
	return (float64(c.Gain[k]*s.YPhi[k*s.Candidates()+i]) + float64(c.Offset[k]*s.Phi[i])) / n
}

// CriterionValues returns the criterion's value of all M0 candidates; zeros without rows. For a
// criterion that needs rows, these are the correlations that choose its first pool. An unknown
// criterion panics.
func CriterionValues(s *Sums, task Task, criterion Criterion) []float64 {
	return criterion.row().values(s, s.Coding(task))
}

// energies returns Σ_k Ŝ_k² for all candidates.
func (s *Sums) energies(c Coding) []float64 {
	outputs := s.Outputs()
	values := make([]float64, s.Candidates())
	for i, score := range s.Scores(c) {
		values[i/outputs] += float64(score * score)
	}
	return values
}

// correlations returns Σ_k cov(y_k, φ)²/var(φ) for all candidates.
func (s *Sums) correlations(c Coding) []float64 {
	values := make([]float64, s.Candidates())
	for i := range values {
		spread := s.spread(i)
		if spread == 0 {
			continue
		}
		sum := 0.0
		for k := range s.Y {
			cov := s.covariance(c, i, k)
			sum += float64(cov * cov)
		}
		values[i] = sum / spread
	}
	return values
}

// spread returns var(φ) of candidate i, 0 when φ counts as constant.
func (s *Sums) spread(i int) float64 {
	n := float64(s.Rows)
	if v := variance(s.Phi[i], s.PhiSq[i], n); v > float64(minRelativeVariance*(s.PhiSq[i]/n)) {
		return v
	}
	return 0
}

// covariance returns cov(y_k, φ) of candidate i.
func (s *Sums) covariance(c Coding, i, k int) float64 {
	n := float64(s.Rows)
	return c.Gain[k] * (s.YPhi[k*s.Candidates()+i]/n - float64((s.Y[k]/n)*(s.Phi[i]/n)))
}

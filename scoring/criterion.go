package scoring

import "fmt"

// Criterion is what candidates are ranked by.
type Criterion uint8

// The criteria, by their names in configuration and on the wire.
const (
	// Energy is Σ_k Ŝ_k², the paper's score.
	Energy Criterion = iota
	// Correlation is Σ_k cov(y_k, φ)²/var(φ): energy without the constant, per unit of variance.
	Correlation
	// Residual chooses features in rounds, each against what the earlier ones leave unexplained ([SelectFrom]).
	Residual
	// Adaptive chooses in rounds that also learn where to draw, and refines its choice (package adaptive).
	Adaptive

	criterionCount = iota
)

// criterionRow defines a criterion.
type criterionRow struct {
	name string
	// needsRows means that it uses the rows of a sample, not only sums.
	needsRows bool
	// holdsOut means that it learns from the rows of a sample that are not held out ([HeldOut]), and is judged by the
	// others.
	holdsOut bool
	// values returns the value of every candidate, [M0], by which they are ranked; for a criterion that needs rows,
	// those of its first round.
	values func(s *Sums, c Coding) []float64
	// strength returns what is compared with the noise for a candidate with these scores.
	strength func(s *Sums, c Coding, candidate int, scores []float64) float64
	// relative means that values are relative to the variance of the outputs (see [Spectrum]).
	relative bool
}

// criteria has the rows by criterion. A test requires each to be complete.
var criteria = [criterionCount]criterionRow{
	Energy:      {name: "energy", values: (*Sums).energies, strength: (*Sums).greatestScore},
	Correlation: {name: "correlation", values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true},
	Residual:    {name: "residual", needsRows: true, values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true},
	Adaptive:    {name: "adaptive", needsRows: true, holdsOut: true, values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true},
}

var criterionNames = namesOf("criterion", criteria[:], func(r criterionRow) string { return r.name })

// row returns the row of c, which must be one of the constants.
func (c Criterion) row() *criterionRow {
	if int(c) >= len(criteria) {
		panic(fmt.Sprint("scoring: ", c))
	}
	return &criteria[c]
}

// NeedsRows reports whether the criterion uses the rows of a sample, not only sums.
func (c Criterion) NeedsRows() bool { return c.row().needsRows }

// HoldsOut reports whether sums leave out the rows of the sample that are held out ([HeldOut]).
func (c Criterion) HoldsOut() bool { return c.row().holdsOut }

// Relative reports whether the criterion's values are relative to the variance of the outputs, as correlations are,
// instead of squared norms of scores.
func (c Criterion) Relative() bool { return c.row().relative }

// ParseCriterion returns the criterion with that name. The error for an unknown name lists the known ones.
func ParseCriterion(s string) (Criterion, error) {
	v, err := criterionNames.parse(s)
	return Criterion(v), err
}

// String returns the name, such as "energy".
func (c Criterion) String() string { return criterionNames.name(uint8(c)) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (c Criterion) MarshalText() ([]byte, error) { return criterionNames.marshal(uint8(c)) }

// UnmarshalText is ParseCriterion into the receiver.
func (c *Criterion) UnmarshalText(text []byte) error {
	v, err := ParseCriterion(string(text))
	if err == nil {
		*c = v
	}
	return err
}

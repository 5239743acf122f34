package scoring

import (
	"errors"
	"fmt"
)

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
	// about is what help says of it.
	about string
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
	// learns means that it also learns where to draw, from candidates that it can learn from.
	learns bool
	// perFeature is the default of M0/M.
	perFeature int
	// relative means that values are relative to the variance of the outputs.
	relative bool
}

// criteria has the rows by criterion. A test requires each to be complete.
var criteria = [criterionCount]criterionRow{
	Energy: {
		name: "energy", about: "the paper",
		perFeature: 10, values: (*Sums).energies, strength: (*Sums).greatestScore,
	},
	Correlation: {
		name: "correlation", about: "for each unit of a feature's variance",
		perFeature: 10, values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true,
	},
	Residual: {
		name: "residual", about: "in rounds over the sampled rows in memory, each against what the earlier ones leave unexplained; as many are kept as held-out rows find best",
		perFeature: 10, needsRows: true, holdsOut: true, values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true,
	},
	Adaptive: {
		name: "adaptive", about: "rounds that also learn where to draw, thresholds beside cosines, and then move what they chose; judged on held-out sampled rows; needs map cosine and distribution gaussian",
		perFeature: 20, needsRows: true, holdsOut: true, learns: true,
		values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true,
	},
}

// choices are what [SelectFrom] calls for the criteria on rows of this package.
var choices = [criterionCount]func(*Bank, *Sums, *Sample, Task, SelectOptions) (Selection, error){
	Residual: selectResidual,
}

var criterionNames = namesOf[Criterion]("criterion", criteria[:], func(r criterionRow) string { return r.name })

// Names returns the names of all criteria, each with what it does.
func (Criterion) Names() []string {
	var all []string
	for _, r := range criteria {
		all = append(all, r.name+" ("+r.about+")")
	}
	return all
}

// row returns the row of c, which must be one of the constants.
func (c Criterion) row() *criterionRow { return &criteria[criterionNames.must(c)] }

// NeedsRows reports whether the criterion uses the rows of a sample, not only sums.
func (c Criterion) NeedsRows() bool { return c.row().needsRows }

// HoldsOut reports whether sums leave out the rows of the sample that are held out ([HeldOut]).
func (c Criterion) HoldsOut() bool { return c.row().holdsOut }

// Learns reports whether the criterion learns where to draw and may move what it chose. Its first candidates are
// [Candidates.Varied].
func (c Criterion) Learns() bool { return c.row().learns }

// CandidatesPerFeature returns the default of M0/M.
func (c Criterion) CandidatesPerFeature() int { return c.row().perFeature }

// Check reports candidates that the criterion cannot choose from: of one that learns, those of another map or distribution.
func (c Criterion) Check(from Candidates) error {
	if !c.Learns() {
		return nil
	}
	var errs []error
	if from.Map != MapCosine {
		errs = append(errs, fmt.Errorf("criterion %v is for the feature map %v, not %v", c, MapCosine, from.Map))
	}
	if from.Distribution != Gaussian {
		errs = append(errs, fmt.Errorf("criterion %v draws from the distribution %v, not %v", c, Gaussian, from.Distribution))
	}
	return errors.Join(errs...)
}

// Relative reports whether the criterion's values are relative to the variance of the outputs, as correlations are,
// instead of squared norms of scores.
func (c Criterion) Relative() bool { return c.row().relative }

// String returns the name, such as "energy".
func (c Criterion) String() string { return criterionNames.name(c) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (c Criterion) MarshalText() ([]byte, error) { return criterionNames.marshal(c) }

// UnmarshalText sets the value of that name; the error of an unknown name lists the known ones.
func (c *Criterion) UnmarshalText(text []byte) error { return criterionNames.unmarshal(c, text) }

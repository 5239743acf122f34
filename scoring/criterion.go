package scoring

import (
	"errors"
	"fmt"
)

// Criterion is the rule by which candidates are ranked.
type Criterion uint8

// The criteria, by their names in configuration and on the wire.
const (
	// Energy is Σ_k Ŝ_k², the paper's score.
	Energy Criterion = iota
	// Correlation is Σ_k cov(y_k, φ)²/var(φ): energy without the constant, per unit of variance.
	Correlation
	// Residual chooses features in rounds, each against the residual of the earlier ones
	// ([SelectFrom]).
	Residual
	// Adaptive chooses in rounds that also learn where to draw, and refines its choice (package
	// adaptive).
	Adaptive

	criterionCount = iota
)

// criterionRow defines a criterion.
type criterionRow struct {
	name string
	// about is its description in help texts.
	about string
	// needsRows means that it uses the rows of a sample, not only sums.
	needsRows bool
	// holdsOut means that it learns only from rows that are not held out ([HeldOut]); the others
	// judge it.
	holdsOut bool
	// values returns the value of every candidate, [M0], by which they are ranked; for a criterion
	// that needs rows, in its first round.
	values func(s *Sums, c Coding) []float64
	// strength returns the quantity that is compared with the noise for a candidate with these
	// scores.
	strength func(s *Sums, c Coding, candidate int, scores []float64) float64
	// learns means that it also learns where to draw. Its first candidates must be varied.
	learns bool
	// relative means that values are relative to the variance of the outputs.
	relative bool
}

// criteria has the rows by criterion. A test requires each to be complete.
var criteria = [criterionCount]criterionRow{
	Energy: {
		name: "energy", about: "the paper",
		values: (*Sums).energies, strength: (*Sums).greatestScore,
	},
	Correlation: {
		name: "correlation", about: "for each unit of a feature's variance",
		values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true,
	},
	Residual: {
		name: "residual",
		about: "in rounds over the sampled rows in memory, each against the residual of the earlier ones; " +
			"held-out rows decide how many features are kept",
		needsRows: true,
		holdsOut:  true,
		values:    (*Sums).correlations,
		strength:  (*Sums).greatestCorrelation,
		relative:  true,
	},
	Adaptive: {
		name: "adaptive",
		about: "rounds that also learn where to draw, add thresholds to cosines and refine the chosen features; " +
			"judged on held-out sampled rows; needs map cosine and distribution gaussian",
		needsRows: true, holdsOut: true, learns: true,
		values: (*Sums).correlations, strength: (*Sums).greatestCorrelation, relative: true,
	},
}

// choices are this package's criteria on rows, called by [SelectFrom].
var choices = [criterionCount]func(*Bank, *Sums, *Sample, Task, SelectOptions) (Selection, error){
	Residual: selectResidual,
}

var criterionNames = namesOf[Criterion]("criterion", criteria[:], func(r criterionRow) string { return r.name })

// Names returns the names of all criteria, each with its description.
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

// HoldsOut reports whether sums exclude the held-out rows of the sample ([HeldOut]).
func (c Criterion) HoldsOut() bool { return c.row().holdsOut }

// Learns reports whether the criterion learns where to draw and may refine the features that it
// chose. Its first candidates are [Candidates.Varied].
func (c Criterion) Learns() bool { return c.row().learns }

// CandidatesPerFeature is the default of M0/M.
const CandidatesPerFeature = 10

// Check reports candidates from which the criterion cannot choose. A criterion that learns needs
// cosines and Gaussian draws.
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

// Relative reports whether the criterion's values are relative to the variance of the outputs, as
// correlations are, instead of squared norms of scores.
func (c Criterion) Relative() bool { return c.row().relative }

// String returns the name, such as "energy".
func (c Criterion) String() string { return criterionNames.name(c) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (c Criterion) MarshalText() ([]byte, error) { return criterionNames.marshal(c) }

// UnmarshalText sets the value of that name; the error of an unknown name lists the known ones.
func (c *Criterion) UnmarshalText(text []byte) error { return criterionNames.unmarshal(c, text) }

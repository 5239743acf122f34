package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/training"
)

// OptionsError is a fault in the options, alone or in combination with the rows.
type OptionsError struct{ Err error }

func (e *OptionsError) Error() string { return e.Err.Error() }
func (e *OptionsError) Unwrap() error { return e.Err }

// optionsFault returns an OptionsError.
func optionsFault(format string, args ...any) error {
	return &OptionsError{fmt.Errorf(format, args...)}
}

// Options are the options of a comparison.
type Options struct {
	// Methods are names of known methods, in the order of the tables. Plain features are always
	// included.
	Methods []string `json:"methods"`
	// More are methods in addition to those of this package.
	More []*Method `json:"-"`
	// Features are the values of M, ascending.
	Features []int `json:"features"`
	// Members is the number of sets that adaptive-refined learns independently, each of its share of
	// the features; 0 means one for every 250 features, at most four.
	Members int `json:"members,omitempty"`
	// Candidates is M0; the linear map has at most one per column.
	Candidates int `json:"candidates"`
	// Map and Distribution are the feature map and the distribution of the candidates.
	Map          scoring.Map          `json:"map"`
	Distribution scoring.Distribution `json:"distribution"`
	// Sigma is the bandwidth; 0 means the nearest-neighbour rule on training rows.
	Sigma float64 `json:"sigma"`
	// Sample is N0 as a share of the training rows, in (0, 1].
	Sample float64 `json:"sample"`
	// SampleRows bounds N0; 0 means no bound.
	SampleRows int `json:"sample_rows,omitempty"`
	// Repeats is the number of repeats; repeat r has the seed Seed + r.
	Repeats int    `json:"repeats"`
	Seed    uint64 `json:"seed"`
	// TestFraction is the share of rows used as test rows, if the source has none of its own.
	TestFraction float64 `json:"test_fraction"`
	// HeldOut is the share of the training rows on which λ is chosen. No method scores or learns
	// from them; learned features are judged on those in the sample.
	HeldOut float64 `json:"held_out"`
	// Loss, Intercept and Grid configure training; in a result, Loss is the resolved value of
	// [training.LossAuto].
	Loss      string        `json:"loss"`
	Intercept bool          `json:"intercept"`
	Grid      training.Grid `json:"lambda_grid"`
	// Measure is the measure by which methods are compared, one of [Measures]; in a result it is
	// the resolved value of [training.MeasureAuto].
	Measure string `json:"measure"`
	// Standardize and Clip are the encoder's settings.
	Standardize string  `json:"standardize"`
	Clip        float64 `json:"clip"`
}

// DefaultOptions are the options for a user's own file.
func DefaultOptions() Options {
	o := Options{
		Features:   []int{adaptive.DefaultFeatures},
		Candidates: scoring.CandidatesPerFeature * adaptive.DefaultFeatures,
		Sample:     1, SampleRows: adaptive.DefaultRows, Repeats: 5, Seed: 1,
		TestFraction: 0.33, HeldOut: 0.2, Loss: training.LossAuto, Measure: training.MeasureAuto,
		Intercept: true, Standardize: "numeric", Clip: 5,
	}
	o.Methods, _ = Usual(o)
	return o
}

// Measures lists the measures by which methods can be compared.
func Measures() []string { return append(training.Judging(), training.MeasureRelativeSquaredError) }

// Validate returns all faults of the options, joined, each with the name of its flag.
func (o Options) Validate() error {
	faults := slices.Concat(o.sizeFaults(), o.shareFaults(), o.modelFaults(), o.methodFaults())
	if joined := errors.Join(faults...); joined != nil {
		return &OptionsError{joined}
	}
	return nil
}

// sizeFaults checks the numbers of features, candidates and repeats.
func (o Options) sizeFaults() []error {
	var faults []error
	if len(o.Features) == 0 {
		faults = append(faults, errors.New("--features is empty: expected numbers of features, such as 20,50,100"))
	}
	for i, m := range o.Features {
		if m < 1 || i > 0 && m <= o.Features[i-1] {
			faults = append(faults, fmt.Errorf("--features %v: expected positive numbers in rising order", o.Features))
			break
		}
	}
	if n := len(o.Features); n > 0 && o.Candidates < o.Features[n-1] {
		faults = append(faults, fmt.Errorf("--candidates %d: expected at least %d, the largest of --features", o.Candidates,
			o.Features[n-1]))
	}
	if len(o.Features) > 0 && (o.Members < 0 || o.Members > min(o.Features[0], scoring.MaxMembers)) {
		faults = append(faults, fmt.Errorf("--members %d: expected 0 to %d, and at most the fewest of --features", o.Members,
			scoring.MaxMembers))
	}
	if o.Repeats < 1 {
		faults = append(faults, fmt.Errorf("--repeats %d: expected 1 or more", o.Repeats))
	}
	return faults
}

// shareFaults checks the shares of rows.
func (o Options) shareFaults() []error {
	var faults []error
	if !(o.Sample > 0 && o.Sample <= 1) {
		faults = append(faults, fmt.Errorf("--sample %v: expected a share of the training rows above 0 and up to 1",
			o.Sample))
	}
	if o.SampleRows < 0 {
		faults = append(faults, fmt.Errorf("--sample-rows %d: expected a number of rows, or 0 for no bound", o.SampleRows))
	}
	if !(o.TestFraction > 0 && o.TestFraction < 1) {
		faults = append(faults, fmt.Errorf("--test-fraction %v: expected a number between 0 and 1", o.TestFraction))
	}
	if !(o.HeldOut > 0 && o.HeldOut < 1) {
		faults = append(faults, fmt.Errorf("--held-out %v: expected a number between 0 and 1", o.HeldOut))
	}
	return faults
}

// modelFaults checks bandwidth, loss, λ and encoding.
func (o Options) modelFaults() []error {
	var faults []error
	if o.Sigma < 0 || math.IsNaN(o.Sigma) || math.IsInf(o.Sigma, 0) {
		faults = append(faults, fmt.Errorf("--sigma %v: expected a positive number, or 0 for the rule", o.Sigma))
	}
	if !slices.Contains(training.Losses(), o.Loss) {
		faults = append(faults, fmt.Errorf("--loss %s: expected one of %v", o.Loss, training.Losses()))
	}
	if !slices.Contains(Measures(), o.Measure) {
		faults = append(faults, fmt.Errorf("--measure %s: expected one of %v", o.Measure, Measures()))
	}
	if err := o.Grid.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("--lambda-grid: %w", err))
	}
	if err := (encoder.Options{Standardize: o.Standardize, Clip: o.Clip}).Validate(); err != nil {
		faults = append(faults, fmt.Errorf("--standardize, --clip: %w", err))
	}
	return faults
}

// methodFaults checks the list of methods against the known ones and the other options.
func (o Options) methodFaults() []error {
	var faults []error
	for i, name := range o.Methods {
		method, err := o.Lookup(name)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("--methods: %w", err))
		case slices.Contains(o.Methods[:i], name):
			faults = append(faults, fmt.Errorf("--methods names %s twice", name))
		default:
			if reason := method.refuses(o); reason != "" {
				faults = append(faults, fmt.Errorf("--methods %s: %s", name, reason))
			}
		}
	}
	return faults
}

// candidates describes the pool of a repeat.
func (o Options) candidates(dim int, sigma float64, seed uint64) (scoring.Candidates, error) {
	c := o.describe(dim, sigma, seed)
	if c.Map.Coordinates() {
		c.Count = min(c.Count, dim)
		if m := slices.Max(o.Features); m > dim {
			return c, optionsFault("--features %d: the linear map has one feature per column, and the rows have %d columns",
				m, dim)
		}
	}
	if err := c.Validate(); err != nil {
		return c, &OptionsError{err}
	}
	return c, nil
}

// describe returns the candidates without checking them.
func (o Options) describe(dim int, sigma float64, seed uint64) scoring.Candidates {
	return scoring.Candidates{
		Map: o.Map, Distribution: o.Distribution, Sigma: sigma, Seed: seed, Dim: dim, Count: o.Candidates,
	}
}

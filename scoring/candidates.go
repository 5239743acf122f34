package scoring

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Candidates describes the M0 = Count candidates of an exploration. Candidate i is a function of
// (Seed, i) and of the other fields except Count, so candidates are never sent, and growing Count
// keeps the first ones.
type Candidates struct {
	// Map is the feature map.
	Map Map `json:"map"`
	// Distribution is P0. Only cosine accepts others than Gaussian; the linear map ignores it.
	Distribution Distribution `json:"distribution"`
	// Sigma is the bandwidth: ω = draw/Sigma. It must be positive even under the linear map, which
	// ignores it.
	Sigma float64 `json:"sigma"`
	// Varied selects candidates at all [Scales] of the bandwidth: a quarter of them dense, a
	// quarter each on one, two and three coordinates.
	Varied bool `json:"varied,omitempty"`
	// Seed selects the streams that candidates are drawn from.
	Seed uint64 `json:"seed,string"`
	// Dim is d, the numbers of an encoded row.
	Dim int `json:"dim"`
	// Count is M0.
	Count int `json:"count"`
}

// maxElements bounds Dim·Count (16 GiB of float32), so that a mistyped count is an error and not an
// allocation failure.
const maxElements = 1 << 32

// Validate returns all faults of the description, joined; nil if candidates can be drawn. Values
// outside an enumeration hide other faults.
func (c Candidates) Validate() error {
	if err := errors.Join(mapNames.check(c.Map), distributionNames.check(c.Distribution)); err != nil {
		return err
	}
	errs := []error{c.checkPair(), c.checkVaried()}
	if !(c.Sigma > 0) || math.IsInf(c.Sigma, 0) {
		errs = append(errs, fmt.Errorf("sigma is %v, want a positive finite number", c.Sigma))
	}
	return errors.Join(append(errs, c.checkSizes()...)...)
}

// checkPair reports a distribution that the feature map does not support.
func (c Candidates) checkPair() error {
	accepted := c.Map.row().distributions
	if slices.Contains(accepted, c.Distribution) {
		return nil
	}
	return fmt.Errorf("feature map %v does not support distribution %v, want one of %v", c.Map, c.Distribution, accepted)
}

// checkSizes reports faults of Dim and Count.
func (c Candidates) checkSizes() []error {
	var errs []error
	if c.Dim < 1 || c.Dim > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("dim is %d, want 1 or more", c.Dim))
	}
	if c.Count < 1 || c.Count > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("count is %d, want 1 or more candidates", c.Count))
	}
	if len(errs) > 0 {
		return errs
	}
	if c.Map.Coordinates() && c.Count > c.Dim {
		errs = append(errs, fmt.Errorf("count is %d, but the linear map has only %d candidates, one per coordinate",
			c.Count, c.Dim))
	}
	if c.Map.Coordinates() && c.Dim > maxCoordinate {
		errs = append(errs, fmt.Errorf("dim is %d, beyond the %d coordinates that the linear map can name", c.Dim,
			maxCoordinate))
	}
	if int64(c.Dim)*int64(c.Count) > maxElements {
		errs = append(errs, fmt.Errorf("dim %d times count %d is beyond %d numbers", c.Dim, c.Count, int64(maxElements)))
	}
	return errs
}

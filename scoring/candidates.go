package scoring

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Limits of a candidate set. A Matérn order beyond them gives draws that are Gaussian for every purpose (MaxNu), or so
// heavy-tailed that nearly all are useless (MinNu).
const (
	MinNu = 0.25
	MaxNu = 1000
)

// Candidates describes the M0 = Count candidates of an exploration. Candidate i is a function of (Seed, i) and of the
// other fields except Count, so the candidates never have to be sent, and the first ones stay the same when Count
// grows.
type Candidates struct {
	// Map is the feature map.
	Map Map `json:"map"`
	// Distribution is P0. Arc-cosine maps take Gaussian, the linear map Uniform, cosine the four others.
	Distribution Distribution `json:"distribution"`
	// Nu is the order of the Matérn kernel (½, 3/2, 5/2, ...); no other distribution reads it.
	Nu float64 `json:"nu,omitempty"`
	// Sampler is how the set is drawn; see the constants for the distributions that each one supports.
	Sampler Sampler `json:"sampler"`
	// Sigma is the bandwidth: ω = draw/Sigma. The linear map does not use it, but it must be positive.
	Sigma float64 `json:"sigma"`
	// Mix are scales of the bandwidth, of which each candidate has one ([Candidates.SigmaOf]); empty means 1 for all.
	Mix []float64 `json:"bandwidth_mix,omitempty"`
	// Orders make candidates sparse: candidate i has Orders[i mod len] nonzero numbers, where 0 means a dense one
	// ([Candidates.OrderOf]). Empty means that all are dense.
	Orders []int `json:"sparse_orders,omitempty"`
	// Seed selects the streams that candidates are drawn from.
	Seed uint64 `json:"seed"`
	// Dim is d, how many numbers an encoded row has.
	Dim int `json:"dim"`
	// Count is M0.
	Count int `json:"count"`
}

// maxElements bounds Dim·Count (16 GiB of float32), so that a mistyped count is an error and not an allocation failure.
const maxElements = 1 << 32

// Validate returns every fault of the description, joined; nil if candidates can be drawn.
func (c Candidates) Validate() error {
	errs := []error{
		mapNames.check(uint8(c.Map)),
		distributionNames.check(uint8(c.Distribution)),
		samplerNames.check(uint8(c.Sampler)),
		c.checkPair(),
		c.checkMix(),
		c.checkOrders(),
	}
	if c.Distribution == Matern && !(c.Nu >= MinNu && c.Nu <= MaxNu) {
		errs = append(errs, fmt.Errorf("nu is %v, want %v to %v for the matern distribution", c.Nu, MinNu, float64(MaxNu)))
	}
	if !(c.Sigma > 0) || math.IsInf(c.Sigma, 0) {
		errs = append(errs, fmt.Errorf("sigma is %v, want a positive finite number", c.Sigma))
	}
	errs = append(errs, c.checkSampler()...)
	return errors.Join(append(errs, c.checkSizes()...)...)
}

// checkPair reports a distribution that does not go with the feature map.
func (c Candidates) checkPair() error {
	if mapNames.check(uint8(c.Map)) != nil {
		return nil // reported separately
	}
	accepted := c.Map.row().distributions
	if slices.Contains(accepted, c.Distribution) {
		return nil
	}
	return fmt.Errorf("feature map %v does not go with distribution %v, want one of %v", c.Map, c.Distribution, accepted)
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
	if c.Map == MapLinear && c.Count > c.Dim {
		errs = append(errs, fmt.Errorf("count is %d, but the linear map has only one candidate for each of the %d coordinates", c.Count, c.Dim))
	}
	if c.Map == MapLinear && c.Dim > maxCoordinate {
		errs = append(errs, fmt.Errorf("dim is %d, beyond the %d coordinates that the linear map can name", c.Dim, maxCoordinate))
	}
	if int64(c.Dim)*int64(c.Count) > maxElements {
		errs = append(errs, fmt.Errorf("dim %d times count %d is beyond %d numbers", c.Dim, c.Count, int64(maxElements)))
	}
	return errs
}

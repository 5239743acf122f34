package scoring

import (
	"fmt"
	"slices"
)

// Sampler is how a set of candidates is drawn from its distribution.
type Sampler uint8

// The samplers, by their names in configuration and on the wire.
const (
	// IID draws every candidate independently, from any distribution.
	IID Sampler = iota
	// Structured draws blocks of orthogonal candidates that a fast transform multiplies rows by (SORF); only Gaussian.
	Structured
	// Orthogonal draws blocks of orthogonal candidates with lengths as P0 has them (ORF); Gaussian and Matern, which favour
	// no direction.
	Orthogonal
	// Quasi draws candidates from a low-discrepancy sequence (quasi-Monte Carlo); Gaussian, Cauchy and Laplace.
	Quasi

	samplerCount = iota
)

// samplerRow is what a sampler can draw.
type samplerRow struct {
	name          string
	distributions []Distribution // nil means all
	reason        string         // why no others
	dim           int            // at most; 0 means any
}

// samplers has the rows by sampler. A test asks for a whole row of each.
var samplers = [samplerCount]samplerRow{
	IID:        {name: "iid"},
	Structured: {"structured", []Distribution{Gaussian}, "its draws match gaussian alone", maxStructuredDim},
	Orthogonal: {"orthogonal", []Distribution{Gaussian, Matern}, "its draws match gaussian and matern alone", maxOrthogonalDim},
	Quasi:      {"quasi", []Distribution{Gaussian, Cauchy, Laplace}, "its draws match gaussian, cauchy and laplace alone", maxQuasiDim},
}

var samplerNames = namesOf("sampler", samplers[:], func(r samplerRow) string { return r.name })

// ParseSampler returns the sampler of that name; the error of an unknown name lists the accepted ones.
func ParseSampler(s string) (Sampler, error) {
	v, err := samplerNames.parse(s)
	return Sampler(v), err
}

// String returns the name, such as "iid".
func (s Sampler) String() string { return samplerNames.name(uint8(s)) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (s Sampler) MarshalText() ([]byte, error) { return samplerNames.marshal(uint8(s)) }

// UnmarshalText is ParseSampler into the receiver.
func (s *Sampler) UnmarshalText(text []byte) error {
	v, err := ParseSampler(string(text))
	if err == nil {
		*s = v
	}
	return err
}

// checkSampler reports what the sampler cannot be combined with.
func (c Candidates) checkSampler() []error {
	if samplerNames.check(uint8(c.Sampler)) != nil {
		return nil // reported separately
	}
	limits := &samplers[c.Sampler]
	var errs []error
	// A pair that does not go together is reported as such.
	if limits.distributions != nil && !slices.Contains(limits.distributions, c.Distribution) && c.checkPair() == nil {
		errs = append(errs, fmt.Errorf("sampler %v does not go with distribution %v: %s", c.Sampler, c.Distribution, limits.reason))
	}
	if limits.dim > 0 && c.Dim > limits.dim {
		errs = append(errs, fmt.Errorf("dim is %d, want at most %d for the %v sampler", c.Dim, limits.dim, c.Sampler))
	}
	return errs
}

package scoring

import (
	"math"
)

// Distribution is P0, from which ω is drawn before it is divided by the bandwidth σ.
type Distribution uint8

// The distributions, by their names in configuration and on the wire.
const (
	// Gaussian draws independent standard normal coordinates (Gaussian kernel exp(-|Δ|₂²/2σ²)).
	Gaussian Distribution = iota
	// Cauchy draws independent standard Cauchy coordinates (Laplacian kernel exp(-|Δ|₁/σ)).
	Cauchy
	// Laplace draws independent Laplace coordinates of scale 1 (Cauchy kernel Π 1/(1+(Δⱼ/σ)²)).
	Laplace

	distributionCount = iota
)

// distributionRow defines a distribution of ω. Its draws consume the words of the stream in a
// documented order.
type distributionRow struct {
	name string
	// coordinate draws one coordinate of ω·σ.
	coordinate func(s stream) float64
	// distance, times unit, is the distance in the bandwidth rule.
	distance func(a, b []float32) float64
	unit     float64
}

// distributions has the rows by distribution. A test requires each to be complete.
var distributions = [distributionCount]distributionRow{
	Gaussian: {name: "gaussian", coordinate: stream.normal, distance: euclidean, unit: 1},
	Cauchy:   {name: "cauchy", coordinate: stream.cauchy, distance: manhattan, unit: 1},
	Laplace:  {name: "laplace", coordinate: stream.laplace, distance: euclidean, unit: math.Sqrt2},
}

var distributionNames = namesOf[Distribution]("distribution", distributions[:], func(r distributionRow) string {
	return r.name
})

// Names returns the names of all distributions.
func (Distribution) Names() []string { return distributionNames.text }

// row returns the row of d, which must be one of the constants.
func (d Distribution) row() *distributionRow { return &distributions[distributionNames.must(d)] }

// String returns the name, such as "gaussian".
func (d Distribution) String() string { return distributionNames.name(d) }

// MarshalText returns the name. It fails for values other than the constants.
func (d Distribution) MarshalText() ([]byte, error) { return distributionNames.marshal(d) }

// UnmarshalText sets the value of that name; the error of an unknown name lists the known ones.
func (d *Distribution) UnmarshalText(text []byte) error { return distributionNames.unmarshal(d, text) }

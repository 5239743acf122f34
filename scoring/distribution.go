package scoring

// Distribution is P0, where ω is drawn from before it is divided by the bandwidth σ.
type Distribution uint8

// The distributions, by their names in configuration and on the wire.
const (
	// Gaussian draws independent standard normal coordinates (Gaussian kernel exp(-|Δ|₂²/2σ²)).
	Gaussian Distribution = iota
	// Cauchy draws independent standard Cauchy coordinates (Laplacian kernel exp(-|Δ|₁/σ)).
	Cauchy
	// Laplace draws independent Laplace coordinates of scale 1 (Cauchy kernel Π 1/(1+(Δⱼ/σ)²)).
	Laplace
	// Matern draws a multivariate t with 2ν degrees of freedom (Matérn-ν kernel).
	Matern
	// Uniform draws coordinates of x without repeats; for the linear map alone.
	Uniform
)

var distributionNames = names{"distribution", []string{"gaussian", "cauchy", "laplace", "matern", "uniform"}}

// ParseDistribution returns the distribution of that name; the error of an unknown name lists the accepted ones.
func ParseDistribution(s string) (Distribution, error) {
	v, err := distributionNames.parse(s)
	return Distribution(v), err
}

// String returns the name, such as "gaussian".
func (d Distribution) String() string { return distributionNames.name(uint8(d)) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (d Distribution) MarshalText() ([]byte, error) { return distributionNames.marshal(uint8(d)) }

// UnmarshalText is ParseDistribution into the receiver.
func (d *Distribution) UnmarshalText(text []byte) error {
	v, err := ParseDistribution(string(text))
	if err == nil {
		*d = v
	}
	return err
}

package scoring

// Criterion is what candidates are ranked by.
type Criterion uint8

// The criteria, by their names in configuration and on the wire.
const (
	// Energy is Σ_k Ŝ_k², the paper's score.
	Energy Criterion = iota
	// Correlation is Σ_k cov(y_k, φ)²/var(φ): energy without the constant, per unit of variance.
	Correlation
	// Residual chooses features in rounds, each against what the ones before leave unexplained (see [ResidualPlan]).
	Residual
)

var criterionNames = names{"criterion", []string{"energy", "correlation", "residual"}}

// ParseCriterion returns the criterion of that name; the error of an unknown name lists the accepted ones.
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

package scoring

// Map is a feature map φ(x, ω).
type Map uint8

// The feature maps, by their names in configuration and on the wire.
const (
	// MapCosine is cos(ωᵀx + b), bounded by 1; (2/M)·Σφφ′ tends to a shift-invariant kernel.
	MapCosine Map = iota
	// MapArcCosine0 is the step H(ωᵀx) with H(0) = ½ (Cho and Saul's arc-cosine kernel of order 0).
	MapArcCosine0
	// MapArcCosine1 is the ramp max(ωᵀx, 0), unbounded.
	MapArcCosine1
	// MapArcCosine2 is the squared ramp max(ωᵀx, 0)², unbounded.
	MapArcCosine2
	// MapLinear is one coordinate of x, unbounded; ω is its number.
	MapLinear
)

var mapNames = names{"feature map", []string{"cosine", "arccos0", "arccos1", "arccos2", "linear"}}

// ParseMap returns the feature map of that name; the error of an unknown name lists the accepted ones.
func ParseMap(s string) (Map, error) {
	v, err := mapNames.parse(s)
	return Map(v), err
}

// String returns the name, such as "cosine".
func (m Map) String() string { return mapNames.name(uint8(m)) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (m Map) MarshalText() ([]byte, error) { return mapNames.marshal(uint8(m)) }

// UnmarshalText is ParseMap into the receiver.
func (m *Map) UnmarshalText(text []byte) error {
	v, err := ParseMap(string(text))
	if err == nil {
		*m = v
	}
	return err
}

// Bounded reports whether |φ| ≤ 1 for every row, which Hoeffding's bound on the scores needs.
func (m Map) Bounded() bool { return m == MapCosine || m == MapArcCosine0 }

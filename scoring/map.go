package scoring

import (
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// Map is a feature map φ(x, ω).
type Map uint8

// The feature maps, by their names in configuration and on the wire.
const (
	// MapCosine is cos(ωᵀx + b), bounded by 1; (2/M)·Σφφ′ tends to a shift-invariant kernel (Rahimi
	// and Recht, 2007).
	MapCosine Map = iota
	// MapArcCosine0 is the step H(ωᵀx) with H(0) = ½, for the arc-cosine kernel of order 0 (Cho and
	// Saul, 2009).
	MapArcCosine0
	// MapArcCosine1 is the ramp max(ωᵀx, 0), unbounded.
	MapArcCosine1
	// MapArcCosine2 is the squared ramp max(ωᵀx, 0)², unbounded.
	MapArcCosine2
	// MapLinear is one coordinate of x, unbounded; ω is its number.
	MapLinear

	mapCount = iota
)

// mapRow defines a feature map.
type mapRow struct {
	name string
	// kernel is the map in package kernel.
	kernel kernel.Map
	// distributions are the permitted distributions of ω.
	distributions []Distribution
	// bounded means that |φ| ≤ 1, bandwidth that σ changes more than the scale of the features.
	bounded, bandwidth bool
	// phase means that features have a phase, coordinate that ω is the number of a coordinate
	// instead of a vector.
	phase, coordinate bool
}

// maps has the rows by map. A test requires each to be complete.
var maps = [mapCount]mapRow{
	MapCosine: {
		name: "cosine", kernel: kernel.Cosine, distributions: []Distribution{Gaussian, Cauchy, Laplace},
		bounded: true, bandwidth: true, phase: true,
	},
	MapArcCosine0: {name: "arccos0", kernel: kernel.Step, distributions: []Distribution{Gaussian}, bounded: true},
	MapArcCosine1: {name: "arccos1", kernel: kernel.Ramp, distributions: []Distribution{Gaussian}},
	MapArcCosine2: {name: "arccos2", kernel: kernel.SquaredRamp, distributions: []Distribution{Gaussian}},
	MapLinear:     {name: "linear", kernel: kernel.Coordinate, distributions: []Distribution{Gaussian}, coordinate: true},
}

var mapNames = namesOf[Map]("feature map", maps[:], func(r mapRow) string { return r.name })

// Names returns the names of all feature maps.
func (Map) Names() []string { return mapNames.text }

// row returns the row of m, which must be one of the constants.
func (m Map) row() *mapRow { return &maps[mapNames.must(m)] }

// String returns the name, such as "cosine".
func (m Map) String() string { return mapNames.name(m) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (m Map) MarshalText() ([]byte, error) { return mapNames.marshal(m) }

// UnmarshalText sets the value of that name; the error of an unknown name lists the known ones.
func (m *Map) UnmarshalText(text []byte) error { return mapNames.unmarshal(m, text) }

// Bounded reports whether |φ| ≤ 1 for every row, which Hoeffding's bound on the scores needs.
func (m Map) Bounded() bool { return m.row().bounded }

// HasPhase reports whether features have a phase.
func (m Map) HasPhase() bool { return m.row().phase }

// Coordinates reports whether features are coordinates of rows, and ω their numbers.
func (m Map) Coordinates() bool { return m.row().coordinate }

// Width returns the numbers of ω for rows of dim numbers: dim, or 1 where ω is the number of a
// coordinate.
func (m Map) Width(dim int) int {
	if m.Coordinates() {
		return 1
	}
	return dim
}

// HasBandwidth reports whether the bandwidth matters. For other maps it only scales features, which
// a model undoes.
func (m Map) HasBandwidth() bool { return m.row().bandwidth }

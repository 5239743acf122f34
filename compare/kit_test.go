package compare

import (
	"math"
	"math/rand/v2"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

// Nothing here is about how long predictions take.
func init() { timedSeconds = 0 }

// made is a source of generated rows: x ~ N(0, I), and a label that depends on two cosines of x.
type made struct {
	task    scoring.Task
	rows    int
	fixed   bool
	dim     int
	classes int
}

const madeDim = 5

func (m made) Fixed() bool { return m.fixed }

// Split generates the rows again: a third are test rows, chosen by the seed unless the split is
// fixed.
func (m made) Split(o datasets.SplitOptions) (*datasets.Split, error) {
	dim := m.dim
	if dim == 0 {
		dim = madeDim
	}
	parts := [2]*datasets.Data{m.empty(dim), m.empty(dim)}
	random, choice := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(o.Seed, 3))
	for i := range m.rows {
		x := make([]float32, dim)
		for j := range x {
			x[j] = float32(random.NormFloat64())
		}
		noise := 0.1 * random.NormFloat64()
		test := choice.Float64() < 1.0/3
		if m.fixed {
			test = i >= m.rows*2/3
		}
		part := parts[0]
		if test {
			part = parts[1]
		}
		part.X = append(part.X, x...)
		part.N++
		m.label(part, wave(x)+noise)
	}
	label := &encoder.Label{Task: m.task, Mean: []float64{0}}
	return &datasets.Split{Train: parts[0], Test: parts[1], Encoder: &encoder.Encoder{Label: label}}, nil
}

func wave(x []float32) float64 {
	a, b := float64(x[0]), float64(x[len(x)-1])
	return math.Cos(1.5*a-0.8*b+0.4) + 0.7*math.Cos(1.1*b+1.7*a)
}

func (m made) empty(dim int) *datasets.Data {
	d := &datasets.Data{Name: "made", Dim: dim, Task: m.task}
	switch m.task {
	case scoring.Regression:
		d.Outputs = 1
	case scoring.Binary:
		d.Classes = 2
	default:
		d.Classes = m.classes
	}
	return d
}

func (m made) label(d *datasets.Data, v float64) {
	switch {
	case m.task == scoring.Regression:
		d.Y = append(d.Y, float32(3*v))
	case m.task == scoring.Binary:
		class := int32(0)
		if v > 0 {
			class = 1
		}
		d.Class = append(d.Class, class)
	default:
		share := (v + 1.7) / 3.4 * float64(m.classes)
		d.Class = append(d.Class, int32(min(max(share, 0), float64(m.classes-1))))
	}
}

// quick are options for a small number of rows.
func quick() Options {
	o := DefaultOptions()
	o.Methods = []string{Plain, "energy", "correlation", "linear", "plain-tuned"}
	o.Features = []int{8, 24}
	o.Candidates = 300
	o.Sample = 0.5
	o.SampleRows = 0
	o.Repeats = 3
	return o
}

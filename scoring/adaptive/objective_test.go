package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gonum.org/v1/gonum/floats"

	"github.com/eerf-stream/eerf/scoring"
)

// drawProblem returns a learner with rows of dim numbers and outputs that depend on them, and
// features for it.
func drawProblem(n, dim, outputs, features int) (*learner, *scoring.Features) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim*100+outputs)))
	r := &rows{n: n, dim: dim, outputs: outputs}
	for range n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = rng.NormFloat64()
			r.x = append(r.x, float32(x[j]))
		}
		for k := range outputs {
			r.y = append(r.y, float32(math.Sin(x[0]+float64(k))+x[dim-1]*x[dim-1]+0.1*rng.NormFloat64()))
		}
	}
	f := &scoring.Features{Map: scoring.MapCosine, Dim: dim}
	for range features {
		for range dim {
			f.Omega = append(f.Omega, float32(rng.NormFloat64()/math.Sqrt(float64(dim))))
		}
		f.Phase = append(f.Phase, float32(6.28*rng.Float64()))
	}
	l := &learner{fit: r, o: Options{Features: features}}
	for k := range outputs {
		l.coding.Gain = append(l.coding.Gain, 1/float64(k+1))
	}
	return l, f
}

// reference computes J and its gradient in float64.
func reference(t *testing.T, l *learner, f *scoring.Features, lambda float64) (value float64, gradient []float64) {
	t.Helper()
	n := l.fit.n
	d := f.Dim
	m := f.Len()
	outputs := l.fit.outputs
	z, s := mat.NewDense(n, m+1, nil), mat.NewDense(n, m, nil)
	y := mat.NewDense(n, outputs, nil)
	for i := range n {
		for j := range m {
			argument := float64(f.Phase[j])
			for c := range d {
				argument += float64(l.fit.x[i*d+c]) * float64(f.Omega[j*d+c])
			}
			z.Set(i, j, math.Cos(argument))
			s.Set(i, j, -math.Sin(argument))
		}
		z.Set(i, m, 1)
		for k := range outputs {
			y.Set(i, k, l.coding.Gain[k]*float64(l.fit.y[i*outputs+k]))
		}
	}
	var a, b, theta, e mat.Dense
	a.Mul(z.T(), z)
	for j := range m {
		a.Set(j, j, a.At(j, j)+lambda*float64(n))
	}
	b.Mul(z.T(), y)
	if err := theta.Solve(&a, &b); err != nil {
		t.Fatal(err)
	}
	e.Mul(z, &theta)
	e.Sub(&e, y)
	for k := range outputs {
		for i := range n {
			value += e.At(i, k) * e.At(i, k) / float64(n)
		}
		for j := range m {
			value += lambda * theta.At(j, k) * theta.At(j, k)
		}
	}
	gradient = make([]float64, m*d+m)
	for i := range n {
		for j := range m {
			h := 0.0
			for k := range outputs {
				h += e.At(i, k) * theta.At(j, k)
			}
			h *= 2 * s.At(i, j) / float64(n)
			gradient[m*d+j] += h
			for c := range d {
				gradient[j*d+c] += h * float64(l.fit.x[i*d+c])
			}
		}
	}
	return value, gradient
}

func TestObjectiveAgreesWithTheReference(t *testing.T) {
	for _, n := range []int{60, 129, 700} {
		for _, dim := range []int{4, 5, 53} {
			for _, outputs := range []int{1, 3} {
				for _, features := range []int{1, 20, 50} {
					t.Run(fmt.Sprintf("%dx%d to %d by %d", n, dim, outputs, features), func(t *testing.T) {
						l, f := drawProblem(n, dim, outputs, features)
						o, got := newObjective(l, f), make([]float64, features*(dim+1))
						value, err := o.value(got, parameters(f))
						if err != nil {
							t.Fatal(err)
						}
						model, _, err := o.fill(f).Ridge(ridgeLevel, o.scale)
						if err != nil {
							t.Fatal(err)
						}
						want, gradient := reference(t, l, f, model.Lambda)
						if !(math.Abs(value-want) <= 1e-5*want) {
							t.Errorf("J is %v, want %v", value, want)
						}
						largest := 0.0
						for _, v := range gradient {
							largest = max(largest, math.Abs(v))
						}
						for i, v := range gradient {
							if !(math.Abs(got[i]-v) <= 2e-3*largest) {
								t.Fatalf("derivative %d is %v, want %v of %v", i, got[i], v, largest)
							}
						}
					})
				}
			}
		}
	}
}

// TestGradientMatchesTheObjective: J falls along the negative gradient by as much as that
// promises.
func TestGradientMatchesTheObjective(t *testing.T) {
	l, f := drawProblem(900, 6, 2, 30)
	o, p := newObjective(l, f), parameters(f)
	gradient, other := make([]float64, len(p)), make([]float64, len(p))
	if _, err := o.value(gradient, p); err != nil {
		t.Fatal(err)
	}
	const step = 0.01
	length, ends := floats.Norm(gradient, 2), [2]float64{}
	for i, sign := range []float64{-1, 1} {
		moved := slices.Clone(p)
		floats.AddScaled(moved, sign*step/length, gradient)
		value, err := o.value(other, moved)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = value
	}
	if slope := (ends[1] - ends[0]) / (2 * step); math.Abs(slope-length) > 0.01*length {
		t.Errorf("J rises by %v, the gradient says %v", slope, length)
	}
}

// With ramps and hinges as well, each derivative equals a central difference of the objective.
func TestMixedGradientMatchesTheObjective(t *testing.T) {
	l, f := drawProblem(900, 5, 2, 12)
	f.Ramps = 4
	for i := range 6 {
		p := scoring.Product{Box: i > 3, Order: uint8(1 + i%3)}
		for a := range p.Order {
			p.Coordinate[a] = uint16((i + 2*int(a)) % 5)
			p.Sign[a] = float32(1 - 2*int(a%2))
			p.Threshold[a] = float32(i)/4 - 0.6
		}
		f.Products = append(f.Products, p)
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	o, p := newObjective(l, f), parameters(f)
	if want := 12*6 + 1 + 2 + 3 + 1; len(p) != want {
		t.Fatalf("%d parameters, want %d", len(p), want)
	}
	gradient, other := make([]float64, len(p)), make([]float64, len(p))
	if _, err := o.value(gradient, p); err != nil {
		t.Fatal(err)
	}
	for i, want := range gradient {
		const step = 0.004
		ends := [2]float64{}
		for side, sign := range []float64{-1, 1} {
			moved := slices.Clone(p)
			moved[i] += sign * step
			var err error
			if ends[side], err = o.value(other, moved); err != nil {
				t.Fatal(err)
			}
		}
		if got := (ends[1] - ends[0]) / (2 * step); math.Abs(got-want) > 0.05*math.Abs(want)+2e-3 {
			t.Errorf("derivative %d is %v, differences say %v", i, want, got)
		}
	}
}

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
)

var (
	dims   = []int{1, 3, 7, 8, 15, 16, 17, 63, 64, 65, 128, 193, 400}
	counts = []int{1, Width - 1, Width, 2*Width + 5}
	rows   = []int{0, 1, 2, 7, 8, 9}
	maps   = allMaps()
)

// allMaps returns all maps, so that none is left untested.
func allMaps() (all []Map) {
	for m := range Map(mapCount) {
		all = append(all, m)
	}
	return all
}

const (
	guard     = Width // as far as a tile might go astray
	guardSign = -12345
)

// guarded is a slice between guard values, so that a stray write or read shows.
type guarded[T float32 | float64 | int32] struct{ all []T }

// guardSlice returns n numbers by fill inside guards.
func guardSlice[T float32 | float64 | int32](n int, fill func(i int) T) guarded[T] {
	all := make([]T, n+2*guard)
	for i := range all {
		all[i] = guardSign
	}
	for i := range n {
		all[guard+i] = fill(i)
	}
	return guarded[T]{all}
}

// inner returns the numbers between the guards, with no capacity beyond them.
func (g guarded[T]) inner() []T {
	end := len(g.all) - guard
	return g.all[guard:end:end]
}

// intact reports whether the guards are unchanged.
func (g guarded[T]) intact() bool {
	for i := range guard {
		if g.all[i] != guardSign || g.all[len(g.all)-1-i] != guardSign {
			return false
		}
	}
	return true
}

// problem is one random call with its reference.
type problem struct {
	m                Map
	dim, count, rows int
	x, omega, phase  guarded[float32]
	phi              []float64 // reference, [rows·count]
	tolerance        float64
	panels           *Panels
}

// newProblem draws rows, features and their reference features in float64.
func newProblem(level simd.Level, m Map, dim, count, rows int) *problem {
	rng := rand.New(rand.NewPCG(uint64(dim), uint64(count*100+rows)))
	p := &problem{m: m, dim: dim, count: count, rows: rows}
	p.x = guardSlice(rows*dim, func(int) float32 { return float32(rng.NormFloat64()) })
	if m == Coordinate {
		p.omega = guardSlice(count, func(i int) float32 { return float32((i * 5) % dim) })
	} else {
		p.omega = guardSlice(count*dim, func(int) float32 { return float32(rng.NormFloat64() / 3) })
	}
	var phase []float32
	if m == Cosine {
		p.phase = guardSlice(count, func(int) float32 { return float32(rng.Float64() * 6.28) })
		phase = p.phase.inner()
	}
	// Rounding grows as √dim, the number of products, times the size of the partial sums, about
	// √dim/3.
	p.tolerance = 3e-6 * float64(1+dim/16)
	p.panels = packFor(level, m, dim, p.omega.inner(), phase)
	for i := range rows {
		for j := range count {
			p.phi = append(p.phi, p.reference(p.x.inner()[i*dim:(i+1)*dim], j))
		}
	}
	return p
}

// reference is φ of feature j for row in float64.
func (p *problem) reference(row []float32, j int) float64 {
	if p.m == Coordinate {
		return float64(row[int(p.omega.inner()[j])])
	}
	z := 0.0
	for k, v := range row {
		z += float64(v) * float64(p.omega.inner()[j*p.dim+k])
	}
	switch p.m {
	case Cosine:
		return math.Cos(z + float64(p.phase.inner()[j]))
	case Step:
		return math.Max(0, math.Copysign(1, z))
	case Ramp:
		return math.Max(z, 0)
	case SquaredRamp:
		return math.Max(z, 0) * math.Max(z, 0)
	default:
		panic(fmt.Sprint("no reference for map ", p.m))
	}
}

// close reports whether a feature agrees with the reference.
func (p *problem) close(got, want float64) bool {
	return math.Abs(got-want) <= p.tolerance*(1+math.Abs(want))
}

// forProblems checks a problem of every level, map and shape.
func forProblems(t *testing.T, check func(t *testing.T, p *problem)) {
	t.Helper()
	for _, level := range levels() {
		for _, m := range maps {
			t.Run(fmt.Sprintf("%v, map %d", level, m), func(t *testing.T) {
				for _, dim := range dims {
					for _, count := range counts {
						for _, n := range rows {
							check(t, newProblem(level, m, dim, count, n))
						}
					}
				}
			})
		}
	}
}

func TestFeaturizeAgreesWithTheReference(t *testing.T) {
	forProblems(t, func(t *testing.T, p *problem) {
		t.Helper()
		factor := guardSlice(p.count, func(i int) float32 { return float32(i%3) - 0.5 })
		dst := guardSlice(p.rows*p.count, func(int) float32 { return float32(math.NaN()) })
		x, omega := slices.Clone(p.x.all), slices.Clone(p.omega.all)
		Featurize(dst.inner(), Set{p.panels}, p.x.inner(), factor.inner())
		for i, got := range dst.inner() {
			if want := p.phi[i] * float64(factor.inner()[i%p.count]); !p.close(float64(got), want) {
				t.Fatalf("%dx%dx%d: element %d is %v, want %v", p.rows, p.dim, p.count, i, got, want)
			}
		}
		if !dst.intact() || !factor.intact() || !slices.Equal(x, p.x.all) || !slices.Equal(omega, p.omega.all) {
			t.Fatalf("%dx%dx%d: wrote outside the destination", p.rows, p.dim, p.count)
		}
	})
}

func TestScoreSumsWhatFeaturizeStoresInRowOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, level := range levels() {
		for _, m := range maps {
			for i, dim := range []int{1, 3, 7, 65, 784} {
				for k, rows := range []int{1, 8, 2*scoreRows + 5} {
					p := newProblem(level, m, dim, counts[(i+k)%len(counts)], rows)
					for _, outputs := range []int{1, 3} {
						for _, classes := range []bool{false, true} {
							checkRowOrder(t, p.panels, p.x.inner(), drawTargets(rng, rows, outputs, classes))
						}
					}
				}
			}
		}
	}
}

func TestFeaturesStayFiniteWhenProductsOverflow(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{math.MaxFloat32, math.MaxFloat32, -math.MaxFloat32, 1e30, 1e15, 0, inf, -inf, float32(math.NaN()), 1}
	omega := []float32{10, -10, 3, -3, 1, 1, 1e10, 0}
	for _, level := range levels() {
		for _, m := range []Map{Cosine, Step, Ramp, SquaredRamp} {
			var phase []float32
			if m == Cosine {
				phase = make([]float32, 4)
			}
			dst := make([]float32, 5*4)
			Featurize(dst, Set{packFor(level, m, 2, omega, phase)}, x, []float32{1, 1, 1, 1})
			for i, v := range dst {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Errorf("%v, map %d: element %d is %v", level, m, i, v)
				}
			}
		}
	}
}

func TestInfinitePhasesGiveZero(t *testing.T) {
	for _, level := range levels() {
		p := packFor(level, Cosine, 2, []float32{4, 1, 0, 1}, []float32{float32(math.Inf(1)), 0})
		dst := make([]float32, 2)
		Featurize(dst, Set{p}, []float32{0.1, 0.2}, []float32{1, 1})
		if p.reach[0] != 0 || dst[0] != 0 || !(dst[1] > 0.9) {
			t.Errorf("%v: features %v, reach %v", level, dst, p.reach[0])
		}
	}
}

func TestStepIsHalfAtZero(t *testing.T) {
	for _, level := range levels() {
		dst := make([]float32, 3)
		Featurize(dst, Set{packFor(level, Step, 1, []float32{1}, nil)}, []float32{-2, 0, 2}, []float32{1})
		if want := []float32{0, 0.5, 1}; !slices.Equal(dst, want) {
			t.Errorf("%v: steps are %v, want %v", level, dst, want)
		}
	}
}

// repackable are two features of two numbers.
func repackable(m Map) *Panels {
	var phase []float32
	if m == Cosine {
		phase = make([]float32, 2)
	}
	return Pack(m, 2, make([]float32, 4), phase)
}

func TestWrongShapesPanic(t *testing.T) {
	sign := [3]float32{1}
	one := make([]float32, 1)
	panel := make([]float32, Width)
	hinge, cosines := PackFactors(2, []Factors{{Count: 1, Sign: sign}}), repackable(Cosine)
	for name, pack := range map[string]func(){
		"omega not a multiple of dim": func() { Pack(Ramp, 3, make([]float32, 4), nil) },
		"cosine without phase":        func() { Pack(Cosine, 2, make([]float32, 4), nil) },
		"phase of a step":             func() { Pack(Step, 2, make([]float32, 4), make([]float32, 2)) },
		"too few phases":              func() { Pack(Cosine, 2, make([]float32, 4), make([]float32, 1)) },
		"coordinate beyond the row":   func() { Pack(Coordinate, 2, []float32{2}, nil) },
		"coordinate below 0":          func() { Pack(Coordinate, 2, []float32{-0.5}, nil) },
		"part of a coordinate":        func() { Pack(Coordinate, 2, []float32{0.5}, nil) },
		"coordinate of no number":     func() { Pack(Coordinate, 2, []float32{float32(math.NaN())}, nil) },
		"repacked without phase":      func() { repackable(Cosine).Repack(make([]float32, 4), nil) },
		"repacked with phase":         func() { repackable(Step).Repack(make([]float32, 4), make([]float32, 2)) },
		"repacked too many":           func() { repackable(Ramp).Repack(make([]float32, 2*(Width+1)), nil) },
		"no factors":                  func() { PackFactors(2, []Factors{{Sign: sign}}) },
		"too many factors":            func() { PackFactors(2, []Factors{{Count: 4, Sign: sign}}) },
		"factor beyond the row":       func() { PackFactors(2, []Factors{{Count: 1, Coordinate: [3]uint16{2}, Sign: sign}}) },
		"slopes of a box":             func() { PackSlopes(2, []Factors{{Box: true, Count: 1, Sign: sign}}) },
		"too few features":            func() { Featurize(one, Set{hinge}, make([]float32, 4), one) },
		"too few numbers to multiply": func() { Featurize(make([]float32, 2), Set{hinge}, make([]float32, 4), []float32{}) },
		"slopes of steps": func() {
			Slopes(make([]float32, 4), 2, panel, Width, repackable(Step), make([]float32, 2))
		},
		"slopes of too few features": func() { Slopes(one, 2, panel, Width, cosines, make([]float32, 2)) },
		"slopes of too few panels": func() {
			Slopes(make([]float32, 2), 2, panel[1:], Width, cosines, make([]float32, 2))
		},
		"slopes by a short stride": func() {
			Slopes(make([]float32, 4), 2, make([]float32, 2*Width), Width, cosines, make([]float32, 4))
		},
		"weights":                   func() { PackWeights(nil, make([]float64, 3), 2, 2) },
		"weights of no features":    func() { PackWeights(nil, nil, 0, 2) },
		"part of a row weighed":     func() { Weigh(panel, Width, make([]float32, 3), make([]float32, 2*Width), 2) },
		"part of a panel's weights": func() { Weigh(panel, Width, make([]float32, 2), make([]float32, 2*Width+1), 2) },
		"too few panels weighed":    func() { Weigh(panel, Width, make([]float32, 4), make([]float32, 2*Width), 2) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "kernel: ") {
					t.Errorf("panic %q", text)
				}
			}()
			pack()
		})
	}
}

func TestEveryProjectionIsChunkedAndFused(t *testing.T) {
	for m := range Map(len(mapRows)) {
		row := mapRows[m]
		if row.source == 0 {
			t.Errorf("map %d has no source in mapRows", m)
		}
		if projects := row.source == projection; projects != (row.operation != raw) {
			t.Errorf("map %d has source %d and operation %d; projections, and only they, have an operation", m, row.source,
				row.operation)
		}
		for _, level := range levels() {
			p := &Panels{Map: m, Dim: chunkDim + 1, Len: 1, level: level}
			if p.chunked(9) != (row.source == projection) {
				t.Errorf("%v, map %d with source %d: chunked is %t", level, m, row.source, p.chunked(9))
			}
			if fused := row.source == projection && level == simd.AVX512; p.fuses(Targets{Outputs: 1}) != fused {
				t.Errorf("%v, map %d with source %d: fused is not %t", level, m, row.source, fused)
			}
		}
	}
}

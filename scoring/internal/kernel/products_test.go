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

// drawFactors returns hinges and boxes of all orders that rows of dim numbers have, unsorted.
func drawFactors(rng *rand.Rand, dim, count int) []Factors {
	all := make([]Factors, count)
	for i := range all {
		f := Factors{Box: rng.IntN(2) == 0, Count: uint8(1 + rng.IntN(min(dim, MaxFactors)))}
		used := map[int]bool{}
		for a := range f.Count {
			j := rng.IntN(dim)
			for used[j] {
				j = rng.IntN(dim)
			}
			used[j] = true
			f.Coordinate[a] = uint16(j)
			f.Sign[a] = float32(2*rng.IntN(2) - 1)
			f.Threshold[a] = float32(rng.IntN(17)-8) / 4
		}
		all[i] = f
	}
	return all
}

// onlyHinges returns the same as hinges.
func onlyHinges(all []Factors) []Factors {
	all = slices.Clone(all)
	for i := range all {
		all[i].Box = false
	}
	return all
}

// forLevel is panels of another level.
func forLevel(p *Panels, level simd.Level) *Panels {
	p.level = level
	return p
}

// productReference is a hinge or box in float64 and, as far as the rounding of differences goes,
// exact.
func productReference(f Factors, row []float32) float64 {
	product := 1.0
	for a, j := range f.Coordinate[:f.Count] {
		v := float64(f.Sign[a]) * (float64(row[j]) - float64(f.Threshold[a]))
		switch {
		case f.Box && !(v >= 0):
			return 0
		case !f.Box:
			product *= max(v, 0)
		}
	}
	return product
}

// slopeOfFactor is ∂φ/∂v_a in float64.
func slopeOfFactor(f Factors, a int, row []float32) float64 {
	if j := f.Coordinate[a]; !(float64(f.Sign[a])*(float64(row[j])-float64(f.Threshold[a])) > 0) {
		return 0
	}
	f.Coordinate[a] = f.Coordinate[f.Count-1]
	f.Sign[a] = f.Sign[f.Count-1]
	f.Threshold[a] = f.Threshold[f.Count-1]
	f.Count--
	return productReference(f, row)
}

// steps are numbers on and between the thresholds of drawFactors.
func steps(rng *rand.Rand) func(int) float32 {
	return func(int) float32 {
		if rng.IntN(2) == 0 {
			return float32(rng.IntN(17)-8) / 4
		}
		return float32(rng.NormFloat64())
	}
}

var (
	productDims   = []int{1, 2, 3, 7, 8, 9, 17, 77, 193}
	productCounts = []int{1, 7, 8, Width - 1, Width, Width + 1, 2*Width + 5}
	productRows   = []int{0, 1, 2, 7, 8, 9, 15, 16, 17, chunkRows - 1, chunkRows, chunkRows + 1, 2*chunkRows + 11}
)

func TestProductsAgreeWithTheReferenceAtEveryLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for _, dim := range productDims {
		for _, count := range productCounts {
			for _, rows := range productRows {
				checkProducts(t, rng, dim, count, rows)
			}
		}
	}
}

func checkProducts(t *testing.T, rng *rand.Rand, dim, count, rows int) {
	t.Helper()
	features := drawFactors(rng, dim, count)
	x := guardSlice(rows*dim, steps(rng))
	factor := guardSlice(count, func(i int) float32 { return []float32{1, -0.5, 3}[i%3] })
	before := slices.Clone(x.all)
	var plain []float32
	for _, level := range slices.Backward(levels()) {
		dst := guardSlice(rows*count, func(int) float32 { return guardSign })
		Featurize(dst.inner(), Set{forLevel(PackFactors(dim, features), level)}, x.inner(), factor.inner())
		for i, got := range dst.inner() {
			f := features[i%count]
			want := productReference(f, x.inner()[i/count*dim:][:dim]) * float64(factor.inner()[i%count])
			if !(math.Abs(float64(got)-want) <= 4e-7*math.Abs(want)) {
				t.Fatalf("%v, %dx%dx%d: feature %d of row %d, %+v, is %v, want %v", level, rows, dim, count, i%count, i/count, f,
					got, want)
			}
		}
		if !dst.intact() || !factor.intact() || sameBits(x.all, before) >= 0 {
			t.Fatalf("%v, %dx%dx%d: wrote outside the destination", level, rows, dim, count)
		}
		if plain == nil {
			plain = slices.Clone(dst.inner())
		}
		if i := sameBits(dst.inner(), plain); i >= 0 {
			t.Fatalf("%v, %dx%dx%d: element %d is %v, in plain Go %v", level, rows, dim, count, i, dst.inner()[i], plain[i])
		}
	}
}

// wild are numbers that rows should not have.
func wild(rng *rand.Rand) func(int) float32 {
	numbers := append([]float32{2, -2, 0.25, 1e20, -1e20, 1e38, -math.MaxFloat32}, hostile...)
	return func(int) float32 { return numbers[rng.IntN(len(numbers))] }
}

func TestProductsOfAnyNumbersAreFiniteAndHaveTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 2))
	for range 30 {
		const dim, count, rows = 9, 2*Width + 3, 29
		features, x := drawFactors(rng, dim, count), make([]float32, rows*dim)
		draw := wild(rng)
		for i := range x {
			x[i] = draw(i)
		}
		for i := range features {
			for a := range features[i].Threshold {
				for v := draw(0); a < int(features[i].Count) && v-v == 0; v = float32(math.NaN()) {
					features[i].Threshold[a] = v
				}
			}
		}
		factor := slices.Repeat([]float32{1, -1}, count)[:count]
		for name, pack := range map[string]func() *Panels{
			"features": func() *Panels { return PackFactors(dim, features) },
			"slopes":   func() *Panels { return PackSlopes(dim, onlyHinges(features)) },
		} {
			var plain []float32
			for _, level := range slices.Backward(levels()) {
				p := forLevel(pack(), level)
				dst := make([]float32, rows*p.Len)
				Featurize(dst, Set{p}, x, slices.Repeat(factor, MaxFactors))
				for i, v := range dst {
					if v-v != 0 {
						t.Fatalf("%v, %s: element %d is %v", level, name, i, v)
					}
				}
				if plain == nil {
					plain = dst
				}
				if i := sameBits(dst, plain); i >= 0 {
					t.Fatalf("%v, %s: element %d is %v, in plain Go %v", level, name, i, dst[i], plain[i])
				}
			}
		}
	}
}

// The results for numbers that are not finite are documented.
func TestProductsOfNumbersThatAreNotFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	hinge := Factors{Count: 1, Sign: [3]float32{1}, Threshold: [3]float32{0.5}}
	box, falling := hinge, hinge
	box.Box, falling.Sign[0] = true, -1
	pair := Factors{Count: 2, Coordinate: [3]uint16{0, 1}, Sign: [3]float32{1, 1}}
	for _, level := range levels() {
		for _, c := range []struct{ x, y, hinge, box, falling, pair float32 }{
			{nan, 1, 0, 0, 0, 0},
			{inf, 1, math.MaxFloat32, 1, 0, math.MaxFloat32},
			{-inf, 1, 0, 0, math.MaxFloat32, 0},
			{inf, 0, math.MaxFloat32, 1, 0, 0},
			{inf, nan, math.MaxFloat32, 1, 0, 0},
			{1e30, 1e30, 1e30, 1, 0, math.MaxFloat32},
		} {
			for _, rows := range []int{1, 16} {
				dst := make([]float32, 4*rows)
				p := forLevel(PackFactors(2, []Factors{hinge, box, falling, pair}), level)
				Featurize(dst, Set{p}, slices.Repeat([]float32{c.x, c.y}, rows), []float32{1, 1, 1, 1})
				if want := slices.Repeat([]float32{c.hinge, c.box, c.falling, c.pair}, rows); !slices.Equal(dst, want) {
					t.Errorf("%v: features of %v, %v are %v, want %v", level, c.x, c.y, dst, want)
				}
			}
		}
	}
}

func TestProductsAreScoredAndStoredInRowOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 3))
	for _, level := range levels() {
		for _, rows := range []int{1, 5, 9, chunkRows, 3*chunkRows + 7} {
			for _, outputs := range []int{1, 3} {
				for _, classes := range []bool{false, true} {
					const dim, count = 11, 2*Width + 9
					x := random(rows * dim)
					checkRowOrder(t, forLevel(PackFactors(dim, drawFactors(rng, dim, count)), level), x,
						drawTargets(rng, rows, outputs, classes))
				}
			}
		}
	}
}

// checkRowOrder compares sums of rows scored at once, in two calls, on the way into a store and out
// of it.
func checkRowOrder(t *testing.T, p *Panels, x []float32, targets Targets) {
	t.Helper()
	count, rows := p.Len, len(x)/p.Dim
	phi := make([]float32, rows*count)
	Featurize(phi, Set{p}, x, slices.Repeat([]float32{1}, count))
	want := zeroSums(count, targets.Outputs)
	for i, v := range phi {
		row := i / count
		j := i % count
		v := float64(v)
		want.Phi[j] += v
		want.PhiSq[j] += v * v
		for k := range targets.Outputs {
			switch {
			case targets.Values != nil:
				want.YPhi[k*count+j] += float64(targets.Values[row*targets.Outputs+k]) * v
			case int(targets.Class[row]) == k:
				want.YPhi[k*count+j] += v
			}
		}
	}
	half := rows / 2
	whole := zeroSums(count, targets.Outputs)
	parts := zeroSums(count, targets.Outputs)
	filled := zeroSums(count, targets.Outputs)
	stored := zeroSums(count, targets.Outputs)
	Score(whole, p, 0, p.Count(), x, targets)
	Score(parts, p, 0, p.Count(), x[:half*p.Dim], targets.slice(0, half))
	Score(parts, p, 0, p.Count(), x[half*p.Dim:], targets.slice(half, rows))
	store := NewStore(p.Count(), rows)
	r := p.Rows(x)
	r.List(0, r.Groups())
	r.Fill(store, 0, 0, filled, p, 0, p.Count(), targets)
	r.Release()
	store.Score(0, 0, rows, stored, p, 0, p.Count(), targets)
	for name, got := range map[string]Sums{"whole": whole, "in parts": parts, "filled": filled, "stored": stored} {
		if !slices.Equal(got.all(), want.all()) {
			t.Errorf("%v, %d rows, %d outputs: sums %s differ from those of the features in row order", p.level, rows,
				targets.Outputs, name)
		}
	}
}

func TestSlopesOfHingesAgreeWithTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 4))
	for _, dim := range []int{1, 3, 77} {
		for _, rows := range []int{1, 7, 8, 16, 65, 2*chunkRows + 9} {
			hinges, x := onlyHinges(drawFactors(rng, dim, 40)), guardSlice(rows*dim, steps(rng))
			var plain []float32
			for _, level := range slices.Backward(levels()) {
				p := forLevel(PackSlopes(dim, hinges), level)
				dst := guardSlice(rows*p.Len, func(int) float32 { return guardSign })
				Featurize(dst.inner(), Set{p}, x.inner(), slices.Repeat([]float32{1}, p.Len))
				m := 0
				for _, f := range hinges {
					for a := range int(f.Count) {
						for i := range rows {
							got, want := dst.inner()[i*p.Len+m], slopeOfFactor(f, a, x.inner()[i*dim:][:dim])
							if !(math.Abs(float64(got)-want) <= 4e-7*math.Abs(want)) {
								t.Fatalf("%v: slope of factor %d of %+v is %v, want %v", level, a, f, got, want)
							}
						}
						m++
					}
				}
				if m != p.Len || !dst.intact() {
					t.Fatalf("%v: %d slopes for %d factors, or a write outside of them", level, p.Len, m)
				}
				if plain == nil {
					plain = slices.Clone(dst.inner())
				}
				if i := sameBits(dst.inner(), plain); i >= 0 {
					t.Fatalf("%v: element %d is %v, in plain Go %v", level, i, dst.inner()[i], plain[i])
				}
			}
		}
	}
}

// mixedSet is cosines, ramps, and hinges and boxes.
func mixedSet(level simd.Level, rng *rand.Rand, dim, cosines, ramps, products int) Set {
	return Set{
		packFor(level, Cosine, dim, random(cosines*dim), random(cosines)),
		packFor(level, Ramp, dim, random(ramps*dim), random(ramps)),
		forLevel(PackFactors(dim, drawFactors(rng, dim, products)), level),
	}
}

func TestMixedSetEqualsItsParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 5))
	for _, level := range levels() {
		for _, dim := range []int{3, 77, chunkDim + 9} {
			for _, rows := range []int{0, 1, 7, 9, chunkRows + 5} {
				for _, sparse := range []bool{false, true} {
					set, x := mixedSet(level, rng, dim, 50, 30, 60), random(rows*dim)
					for i := range x {
						if sparse && i%10 > 0 {
							x[i] = 0
						}
					}
					m, factor := set.Len(), random(140)
					dst := guardSlice(rows*m, func(int) float32 { return guardSign })
					Featurize(dst.inner(), set, x, factor)
					at := 0
					for _, p := range set {
						alone := make([]float32, rows*p.Len)
						Featurize(alone, Set{p}, x, factor[at:])
						for i := range rows {
							if k := sameBits(dst.inner()[i*m+at:][:p.Len], alone[i*p.Len:]); k >= 0 {
								t.Fatalf("%v, map %d, %dx%d: feature %d of row %d is another alone", level, p.Map, rows, dim, k, i)
							}
						}
						at += p.Len
					}
					if !dst.intact() {
						t.Fatal("wrote outside the destination")
					}
				}
			}
		}
	}
}

func TestRampsAddTheirStart(t *testing.T) {
	for _, level := range levels() {
		dst := make([]float32, 2)
		Featurize(dst, Set{packFor(level, Ramp, 1, []float32{1, 1}, []float32{0.5, -3})}, []float32{2}, []float32{1, 1})
		if !slices.Equal(dst, []float32{2.5, 0}) {
			t.Errorf("%v: ramps are %v", level, dst)
		}
	}
}

func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 6))
	for _, level := range levels() {
		for _, rows := range []int{1, 7, 8, 9, 15, 16, 31, 64} {
			for _, columns := range []int{1, 7, 8, 9, 17, 77} {
				from, to := columns+rng.IntN(3), rows+rng.IntN(3)
				src := guardSlice((rows-1)*from+columns, func(i int) float32 { return float32(i) })
				dst := guardSlice((columns-1)*to+rows, func(int) float32 { return guardSign })
				transpose(level, dst.inner(), to, src.inner(), from, rows, columns)
				for i, got := range dst.inner() {
					c, r := i/to, i%to
					if want := float32(r*from + c); r < rows && got != want || r >= rows && got != guardSign {
						t.Fatalf("%v, %dx%d: column %d of row %d is %v, want %v", level, rows, columns, c, r, got, want)
					}
				}
				if !dst.intact() {
					t.Fatalf("%v, %dx%d: wrote outside the destination", level, rows, columns)
				}
			}
		}
	}
}

// BenchmarkKernelMixed measures 500 features, half of them hinges and boxes, compared with 500
// cosines, and the hinges and boxes alone.
func BenchmarkKernelMixed(b *testing.B) {
	const dim, count = 77, 500
	rng := rand.New(rand.NewPCG(26, 7))
	for _, level := range benchLevels() {
		half := drawFactors(rng, dim, count/2)
		slices.SortStableFunc(half, func(a, b Factors) int {
			return strings.Compare(fmt.Sprint(a.Box, a.Count), fmt.Sprint(b.Box, b.Count))
		})
		cosines := func(n int) *Panels { return packFor(level, Cosine, dim, random(n*dim), random(n)) }
		for _, set := range []struct {
			name string
			set  Set
		}{
			{"cosines", Set{cosines(count)}},
			{"mixed", Set{cosines(count / 2), forLevel(PackFactors(dim, half), level)}},
			{"products", Set{forLevel(PackFactors(dim, half), level)}},
		} {
			for _, rows := range []int{1, 256, 4096} {
				b.Run(fmt.Sprintf("rows=%d/set=%s/level=%v/procs=1", rows, set.name, level), func(b *testing.B) {
					x := random(rows * dim)
					dst := alignedFloats(rows * count)
					factor := random(count)
					b.ReportAllocs()
					for b.Loop() {
						Featurize(dst, set.set, x, factor)
					}
				})
			}
		}
	}
}

package hadamard

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
)

// levels returns those that this machine and build can run.
func levels() []simd.Level {
	var all []simd.Level
	for l := simd.None; l <= simd.Best(); l++ {
		all = append(all, l)
	}
	return all
}

// normals returns n standard normal numbers.
func normals(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// guard surrounds n numbers by others that must not change.
const guard = 32

func guarded(n int) (all, inside []float32) {
	all = make([]float32, n+2*guard)
	for i := range all {
		all[i] = 777
	}
	return all, all[guard : guard+n : guard+n]
}

func checkGuards(t *testing.T, what string, all []float32) {
	t.Helper()
	for i := range guard {
		if all[i] != 777 || all[len(all)-1-i] != 777 {
			t.Fatalf("%s: a number outside was written", what)
		}
	}
}

// equalBits fails unless the numbers are the same to the bit.
func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// definition is H·(diag∘x) in float64 by the entries of H.
func definition(x, diag []float32) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		for j, v := range x {
			term := float64(v) * float64(diag[j])
			if bits.OnesCount(uint(i&j))%2 == 1 {
				term = -term
			}
			y[i] += term
		}
	}
	return y
}

func TestTransformIsTheProductWithTheMatrix(t *testing.T) {
	for n := 1; n <= 4096; n *= 2 {
		x, diag := normals(uint64(n), n), normals(uint64(n)+1, n)
		want := definition(x, diag)
		for _, level := range levels() {
			got := make([]float32, n)
			transformAt(level, got, x, diag, n)
			for i := range want {
				if tolerance := 1e-6 * math.Sqrt(float64(n)); !(math.Abs(float64(got[i])-want[i]) <= tolerance) {
					t.Fatalf("%v n=%d: number %d is %v, want %v within %v", level, n, i, got[i], want[i], tolerance)
				}
			}
		}
	}
}

func TestAllLevelsTransformToEqualBits(t *testing.T) {
	for n := 1; n <= 1<<16; n *= 2 {
		for _, rows := range []int{0, 1, 2, 3, 9} {
			x, diag := normals(uint64(n), rows*n), normals(1, n)
			want := make([]float32, rows*n)
			transformGo(want, x, diag, n)
			for _, level := range levels() {
				what := fmt.Sprintf("%v n=%d rows=%d", level, n, rows)
				source := append([]float32(nil), x...)
				all, got := guarded(rows * n)
				transformAt(level, got, source, diag, n)
				equalBits(t, what, got, want)
				equalBits(t, what+", source", source, x)
				checkGuards(t, what, all)
				all, got = guarded(rows * n)
				copy(got, x)
				transformAt(level, got, got, diag, n)
				equalBits(t, what+", in place", got, want)
				checkGuards(t, what, all)
			}
		}
	}
}

func TestTwiceIsTheOrderTimesTheRow(t *testing.T) {
	for n := 1; n <= MaxOrder; n *= 4 {
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		x, ones := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], ones[i] = float32(rng.IntN(7)-3), 1
		}
		y := make([]float32, n)
		Transform(y, x, ones, n)
		Transform(y, y, ones, n)
		for i, v := range y {
			// Three times n·√n at most on the way, and for n ≤ 2¹⁴ exact.
			if tolerance := max(float64(n-1<<14), 0) * 1e-3; math.Abs(float64(v)-float64(n)*float64(x[i])) > tolerance {
				t.Fatalf("n=%d: number %d is %v, want %v", n, i, v, float64(n)*float64(x[i]))
			}
		}
	}
}

func TestTransformRefusesWrongShapes(t *testing.T) {
	for what, call := range map[string]func(){
		"order no power of two": func() { Transform(make([]float32, 6), make([]float32, 6), make([]float32, 6), 6) },
		"order zero":            func() { Transform(nil, nil, nil, 0) },
		"order too great":       func() { Transform(nil, nil, make([]float32, 2*MaxOrder), 2*MaxOrder) },
		"diagonal":              func() { Transform(make([]float32, 4), make([]float32, 4), make([]float32, 3), 4) },
		"half a row":            func() { Transform(make([]float32, 6), make([]float32, 6), make([]float32, 4), 4) },
		"source":                func() { Transform(make([]float32, 8), make([]float32, 4), make([]float32, 4), 4) },
		"shifts":                func() { Gather(make([]float32, 2), nil, make([]int32, 2), make([]float32, 1), 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			call()
		}()
	}
}

// FuzzLevelsAgree compares the assembly with plain Go on any numbers but NaN, whose payload is not specified.
func FuzzLevelsAgree(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(3), float32(1))
	f.Add(uint64(2), uint8(10), uint8(1), float32(3e38))
	f.Add(uint64(3), uint8(0), uint8(2), float32(1e-44))
	f.Fuzz(func(t *testing.T, seed uint64, k, rows uint8, factor float32) {
		n := 1 << (k % 13)
		x, diag := normals(seed, n*int(rows%5)), normals(seed+1, n)
		for i := range x {
			x[i] *= factor
		}
		want := make([]float32, len(x))
		transformGo(want, x, diag, n)
		for _, level := range levels() {
			got := make([]float32, len(x))
			transformAt(level, got, x, diag, n)
			for i, w := range want {
				if w == w && math.Float32bits(got[i]) != math.Float32bits(w) || w != w && got[i] == got[i] {
					t.Fatalf("%v n=%d: number %d is %v, want %v", level, n, i, got[i], w)
				}
			}
		}
	})
}

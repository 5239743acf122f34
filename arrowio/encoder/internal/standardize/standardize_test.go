package standardize

import (
	"math"
	"math/rand/v2"
	"testing"
)

// divided is the definition.
func divided(v, shift, scale float64) float32 { return float32((v - shift) / scale) }

// line is a run of numbers with the shift and the scale of each.
type line struct{ values, shift, scale []float64 }

// guard is what surrounds a destination.
const guard = float32(-12345)

// guarded returns a destination of n numbers, surrounded by guards that must not change.
func guarded(n int) (dst []float32, intact func() bool) {
	all := make([]float32, n+32)
	for i := range all {
		all[i] = guard
	}
	return all[16 : 16+n], func() bool {
		for i := range 16 {
			if all[i] != guard || all[16+n+i] != guard {
				return false
			}
		}
		return true
	}
}

// run standardizes all of src in several calls, dividing each number at which the function stops.
// next calls the function on the numbers from an offset on. It fails if the bits of a number differ
// from the definition, or if a call stops although all of the next numbers are certain.
func run(t *testing.T, name string, l line, bound float32, next func(dst []float32, from int) int) {
	t.Helper()
	dst, intact := guarded(len(l.values))
	for done := 0; done < len(dst); {
		n := next(dst[done:], done)
		for i := done; i < done+n; i++ {
			if want := divided(l.values[i], l.shift[i], l.scale[i]); math.Float32bits(dst[i]) != math.Float32bits(want) {
				t.Fatalf("%s: (%v - %v)/%v gives %v, want %v", name, l.values[i], l.shift[i], l.scale[i], dst[i], want)
			}
		}
		done += n
		stop := min(done+Lanes, len(dst))
		if stop < len(dst) || stop-done == Lanes { // a shorter rest may not fill a vector
			for i := done; ; i++ {
				if i == stop {
					t.Fatalf("%s: stopped at %d of %d although the next %d are certain", name, done, len(dst), Lanes)
				}
				_, certain := multiply(l.values[i], l.shift[i], Reciprocal(l.shift[i], l.scale[i]), bound)
				if !certain {
					break
				}
			}
		}
		done = stop
	}
	if !intact() {
		t.Fatalf("%s: wrote outside the destination", name)
	}
}

// check runs every function on a line; src must not change.
func check(t *testing.T, l line, bound float32) {
	t.Helper()
	times, floats := make([]float64, len(l.values)), make([]float32, len(l.values))
	short := line{make([]float64, len(l.values)), l.shift, l.scale}
	for i, v := range l.values {
		times[i], floats[i] = Reciprocal(l.shift[i], l.scale[i]), float32(v)
		short.values[i] = float64(floats[i])
	}
	run(
		t,
		"row of float64",
		l,
		bound,
		func(dst []float32, i int) int { return Row(dst, l.values[i:], l.shift[i:], times[i:], bound) },
	)
	run(
		t,
		"row of float32",
		short,
		bound,
		func(dst []float32, i int) int { return Row(dst, floats[i:], l.shift[i:], times[i:], bound) },
	)
	run(
		t,
		"plain row",
		l,
		bound,
		func(dst []float32, i int) int { return rowPlain(dst, l.values[i:], l.shift[i:], times[i:], bound) },
	)
	if len(l.values) == 0 {
		return
	}
	for i := range l.shift {
		l.shift[i], l.scale[i] = l.shift[0], l.scale[0]
	}
	shift, factor := l.shift[0], times[0]
	run(
		t,
		"column of float64",
		l,
		bound,
		func(dst []float32, i int) int { return Column(dst, l.values[i:], shift, factor, bound) },
	)
	run(
		t,
		"column of float32",
		short,
		bound,
		func(dst []float32, i int) int { return Column(dst, floats[i:], shift, factor, bound) },
	)
	run(
		t,
		"plain column",
		l,
		bound,
		func(dst []float32, i int) int { return columnPlain(dst, l.values[i:], shift, factor, bound) },
	)
}

// wild returns a number of any magnitude, and now and then one that is not finite.
func wild(r *rand.Rand) float64 {
	switch r.IntN(12) {
	case 0:
		return []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}[r.IntN(7)]
	case 1, 2:
		return math.Ldexp(r.NormFloat64(), r.IntN(2098)-1074)
	case 3:
		return float64(r.IntN(2001) - 1000)
	default:
		return r.NormFloat64() * 10
	}
}

// drawLine returns n numbers, many of them near the mean, near midway points of float32 or near the
// bound.
func drawLine(r *rand.Rand, n int, bound float32) line {
	l := line{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		l.shift[i] = finite(wild(r))
		if l.scale[i] = math.Abs(finite(wild(r))); l.scale[i] == 0 || r.IntN(4) == 0 {
			l.scale[i] = math.Ldexp(1, r.IntN(41)-20)
		}
		target := float32(wild(r))
		switch r.IntN(4) {
		case 0: // a midway point, to a few units of float64
			next := math.Nextafter32(target, float32(math.Inf(1)))
			l.values[i] = step((float64(target)+float64(next))/2*l.scale[i]+l.shift[i], r.IntN(9)-4)
		case 1: // the bound
			l.values[i] = step(float64(bound)*l.scale[i]+l.shift[i], r.IntN(9)-4)
		case 2: // the mean
			l.values[i] = step(l.shift[i], r.IntN(9)-4)
		default:
			l.values[i] = wild(r)
		}
	}
	return l
}

// finite returns v, or 1 if v is not finite.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	return v
}

// step returns the float64 that is a number of places away from v.
func step(v float64, places int) float64 {
	for ; places > 0; places-- {
		v = math.Nextafter(v, math.Inf(1))
	}
	for ; places < 0; places++ {
		v = math.Nextafter(v, math.Inf(-1))
	}
	return v
}

func TestEveryNumberHasTheBitsOfADivision(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		for _, bound := range []float32{5, 1, 1e15, 1e-30} {
			for range 8 {
				check(t, drawLine(r, n, bound), bound)
			}
		}
	}
}

// TestOrdinaryNumbersSeldomStop checks that the functions serve their purpose: nearly all numbers
// are multiplied.
func TestOrdinaryNumbersSeldomStop(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	src, dst := make([]float32, 1<<16), make([]float32, 1<<16)
	for i := range src {
		src[i] = float32(3 + 0.7*r.NormFloat64())
	}
	if n := Column(dst, src, math.Pi, Reciprocal(math.Pi, math.Sqrt2/2), 50); n != len(src) {
		t.Errorf("stopped at %d of %d", n, len(src))
	}
}

func TestLengthsThatDoNotAgreePanic(t *testing.T) {
	calls := map[string]func(){
		"column": func() { Column(make([]float32, 2), make([]float32, 3), 0, 1, 5) },
		"row":    func() { Row(make([]float32, 3), make([]float64, 3), make([]float64, 3), make([]float64, 2), 5) },
	}
	for name, call := range calls {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

package encoder

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Without far values, mean and scale are those of all values, to the bit.
func TestOrdinaryValuesKeepTheirMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, draw := range map[string]func() float64{
		"normal":      func() float64 { return 1.7e9 + 12*r.NormFloat64() },
		"heavy tails": func() float64 { return math.Exp(2 * r.NormFloat64()) },
		"rare ones":   func() float64 { return float64(count(r.Float64() < 0.005)) },
		"constant":    func() float64 { return 3 },
		"ascending":   func() func() float64 { v := 0.0; return func() float64 { v++; return v } }(),
	} {
		var s spread
		var want moment
		for range 3000 {
			v := draw()
			s.add(v)
			want.add(v)
		}
		if m, far := s.settled(); m != want || far != nil {
			t.Errorf("%s: %+v without %v, want %+v", name, m, far, want)
		}
		if s.inner.n != 3000-2*extremeValues {
			t.Errorf("%s: %d values are no extremes", name, s.inner.n)
		}
	}
}

// A few huge values do not change mean and scale by which the others are told apart.
func TestFarValuesDoNotEraseOthers(t *testing.T) {
	for name, huge := range map[string][]float64{
		"one": {1e30}, "both sides": {-1e100, 1e12}, "a code of absence": {999999, 999999, 999999, 999999},
	} {
		r := rand.New(rand.NewPCG(2, 2))
		var s spread
		var want moment
		for i := range 2000 {
			if i%400 == 7 && i/400 < len(huge) {
				s.add(huge[i/400])
			}
			v := 50 + 10*r.NormFloat64()
			s.add(v)
			want.add(v)
		}
		m, far := s.settled()
		if len(far) != len(huge) || m.n != want.n {
			t.Errorf("%s: left out %v", name, far)
		}
		if math.Abs(m.mean-want.mean) > 1e-12*want.mean || math.Abs(m.scale()-want.scale()) > 1e-12*want.scale() {
			t.Errorf("%s: mean %v and scale %v, want %v and %v", name, m.mean, m.scale(), want.mean, want.scale())
		}
	}
}

// Far values, and differences that float64 or float32 cannot represent, are named with their
// column.
func TestLostDifferencesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		offset, width, far float64
		standardize, want  string
	}{
		"ordinary":                  {standardize: StandardizeNumeric, width: 1},
		"an offset":                 {standardize: StandardizeNumeric, offset: 1.7e9, width: 12},
		"a far value":               {standardize: StandardizeNumeric, width: 1, far: 1e30, want: "1 of 201 values are far"},
		"an offset beyond float64":  {standardize: StandardizeNumeric, offset: 1e18, width: 2000, want: "float64"},
		"an offset beyond float32":  {standardize: StandardizeNone, offset: 1.7e9, width: 12, want: "events.standardize"},
		"an offset within float32":  {standardize: StandardizeNone, offset: 1000, width: 1},
		"standardized all the same": {standardize: StandardizeAll, offset: 1.7e9, width: 12},
	} {
		r := rand.New(rand.NewPCG(3, 3))
		l := learned{want: columnType{kind: Numeric, width: 1}, spreads: make([]spread, 1)}
		for range 200 {
			l.spreads[0].add(c.offset + c.width*r.NormFloat64())
		}
		if c.far != 0 {
			l.spreads[0].add(c.far)
		}
		got := l.spreadWarning(&l.spreads[0], `column "a"`, c.standardize)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

package scoring

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		c    Candidates
		want []string
	}{
		"sigma, dim, count": {Candidates{}, []string{"sigma is 0", "dim is 0", "count is 0"}},
		"unknown names": {
			Candidates{Map: 9, Distribution: 9, Sigma: 1, Dim: 1, Count: 1},
			[]string{"unknown feature map", "unknown distribution"},
		},
		"pair and sigma": {
			Candidates{Map: MapArcCosine1, Distribution: Cauchy, Sigma: math.Inf(1), Dim: 1, Count: 1},
			[]string{"arccos1 does not support distribution cauchy, want one of [gaussian]", "sigma is +Inf"},
		},
		"linear from cauchy, too many": {
			Candidates{Map: MapLinear, Distribution: Cauchy, Sigma: 1, Dim: 3, Count: 4},
			[]string{"want one of [gaussian]", "has only 3 candidates"},
		},
		"varied and nan": {
			Candidates{Distribution: Laplace, Varied: true, Sigma: math.NaN(), Dim: 1, Count: 1},
			[]string{"varied candidates", "sigma is NaN"},
		},
		"too large": {Candidates{Sigma: 1, Dim: 1 << 20, Count: 1 << 20}, []string{"beyond 4294967296"}},
		"too many columns": {
			Candidates{Map: MapLinear, Sigma: 1, Dim: 1<<24 + 1, Count: 1}, []string{"16777216 coordinates"},
		},
	} {
		err := test.c.Validate()
		if err == nil {
			t.Errorf("%s: no fault", name)
			continue
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines != len(test.want) {
			t.Errorf("%s: %d faults, want %d: %v", name, lines, len(test.want), err)
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in %q", name, want, err)
			}
		}
	}
}

// everyKind is one valid description of each combination.
func everyKind(dim, count int) []Candidates {
	base := Candidates{Sigma: 2, Seed: 42, Dim: dim, Count: count}
	var all []Candidates
	for m := range Map(mapCount) {
		for _, d := range m.row().distributions {
			c := base
			c.Map, c.Distribution = m, d
			all = append(all, c)
		}
	}
	base.Varied = true
	return append(all, base)
}

func TestCandidatesDependOnlyOnSeedAndIndex(t *testing.T) {
	for _, c := range everyKind(40, 40) {
		all := c.DrawAll()
		if err := all.Validate(); err != nil {
			t.Errorf("%v %v: %v", c.Map, c.Distribution, err)
		}
		fewer := c
		fewer.Count = 12
		w := all.Width()
		if !slices.Equal(fewer.DrawAll().Omega, all.Omega[:12*w]) {
			t.Errorf("%v %v: the first candidates change with the count", c.Map, c.Distribution)
		}
		some := c.Draw([]int32{31, 3, 31})
		for k, i := range []int{31, 3, 31} {
			if !slices.Equal(some.Omega[k*w:(k+1)*w], all.Omega[i*w:(i+1)*w]) {
				t.Errorf("%v %v: candidate %d changes with what else is drawn", c.Map, c.Distribution, i)
			}
			if c.Map == MapCosine && some.Phase[k] != all.Phase[i] {
				t.Errorf("%v %v: phase %d changes with what else is drawn", c.Map, c.Distribution, i)
			}
		}
		other := c
		other.Seed++
		if slices.Equal(other.DrawAll().Omega, all.Omega) {
			t.Errorf("%v %v: another seed draws the same", c.Map, c.Distribution)
		}
	}
}

func TestDrawsDoNotDependOnGOMAXPROCS(t *testing.T) {
	c := Candidates{Sigma: 1, Seed: 5, Dim: 64, Count: 1025}
	many := c.DrawAll()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := c.DrawAll()
	if !slices.Equal(one.Omega, many.Omega) || !slices.Equal(one.Phase, many.Phase) {
		t.Error("draws differ")
	}
}

func TestTinyBandwidthGivesFiniteDraws(t *testing.T) {
	c := Candidates{Distribution: Cauchy, Sigma: 1e-300, Dim: 3, Count: 3}
	if err := c.DrawAll().Validate(); err != nil {
		t.Error(err)
	}
}

// panics fails unless call panics with a message that begins with prefix.
func panics(t *testing.T, prefix string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, ok := recover().(string); !ok || !strings.HasPrefix(text, prefix) {
			t.Errorf("panic %q, want one that begins with %q", text, prefix)
		}
	}()
	call()
}

func TestFeaturesFromOutsideAreChecked(t *testing.T) {
	nan := float32(math.NaN())
	for want, f := range map[string]*Features{
		"unknown feature map":           {Map: 77, Dim: 1},
		"dim is 0":                      {},
		"not a multiple":                {Dim: 2, Omega: make([]float32, 3)},
		"omega of feature 1 is NaN":     {Dim: 1, Omega: []float32{0, nan}, Phase: []float32{0, 0}},
		"1 phases for 2 features":       {Dim: 1, Omega: []float32{0, 0}, Phase: []float32{0}},
		"phase of feature 0 is 6.3":     {Dim: 1, Omega: []float32{0}, Phase: []float32{6.3}},
		"phase of feature 0 is NaN":     {Dim: 1, Omega: []float32{0}, Phase: []float32{nan}},
		"has no phases, but 1":          {Map: MapArcCosine0, Dim: 1, Omega: []float32{0}, Phase: []float32{0}},
		"is 2, want a coordinate 0":     {Map: MapLinear, Dim: 2, Omega: []float32{2}},
		"is 0.5, want a coordinate":     {Map: MapLinear, Dim: 2, Omega: []float32{0.5}},
		"is -1, want a coordinate":      {Map: MapLinear, Dim: 2, Omega: []float32{-1}},
		"is 1e+20, want a coordinate":   {Map: MapLinear, Dim: 1 << 24, Omega: []float32{1e20}},
		"dim is 16777217, beyond the 1": {Map: MapLinear, Dim: 1<<24 + 1, Omega: []float32{2}},
	} {
		if err := f.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

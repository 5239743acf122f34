package scoring

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func mixed() Candidates {
	return Candidates{Map: MapCosine, Distribution: Gaussian, Sigma: 3, Seed: 7, Dim: 5, Count: 3000, Mix: []float64{1, 2, 4}}
}

func TestMixScalesTheDrawsAndNothingElse(t *testing.T) {
	c := mixed()
	plain := c
	plain.Mix = nil
	a, b := c.DrawAll(), plain.DrawAll()
	counts := map[float64]int{}
	for i := range c.Count {
		scale := c.SigmaOf(int32(i)) / c.Sigma
		counts[scale]++
		if a.Phase[i] != b.Phase[i] {
			t.Fatalf("candidate %d has phase %v, without a mix %v", i, a.Phase[i], b.Phase[i])
		}
		for j := range c.Dim {
			if got, want := float64(a.Omega[i*c.Dim+j])*scale, float64(b.Omega[i*c.Dim+j]); math.Abs(got-want) > 1e-6*math.Abs(want) {
				t.Fatalf("candidate %d at scale %v: ω_%d·scale = %v, without a mix %v", i, scale, j, got, want)
			}
		}
	}
	for _, scale := range c.Mix { // a thousand each, ± 26
		if n := counts[scale]; n < 870 || n > 1130 {
			t.Errorf("%d candidates of scale %v: %v", n, scale, counts)
		}
	}
}

func TestMixGoesThroughBanksOfAnySize(t *testing.T) {
	c := mixed()
	c.Count = 200
	x := make([]float32, 40*c.Dim)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	y := make([]float32, 40)
	for i := range y {
		y[i] = float32(1 - 2*(i%2))
	}
	sums := func(o BankOptions) *Sums {
		a := NewAccumulator(NewBank(c, o), NewSums(c.Count, 1))
		a.Add(x, 40, Targets{Outputs: 1, Values: y})
		return a.Sums()
	}
	kept, drawn := sums(BankOptions{}), sums(BankOptions{Memory: 1})
	for i := range kept.Phi {
		if kept.Phi[i] != drawn.Phi[i] {
			t.Fatalf("candidate %d: Σφ = %v kept and %v drawn", i, kept.Phi[i], drawn.Phi[i])
		}
	}
}

func TestFaultyMix(t *testing.T) {
	for says, change := range map[string]func(c *Candidates){
		"positive finite scales":      func(c *Candidates) { c.Mix = []float64{1, 0} },
		"want positive":               func(c *Candidates) { c.Mix = []float64{math.NaN()} },
		"want at most 64":             func(c *Candidates) { c.Mix = make([]float64, 65) },
		"cosine map alone":            func(c *Candidates) { c.Map = MapArcCosine1 },
		"does not go with the struct": func(c *Candidates) { c.Sampler = Structured },
	} {
		c := mixed()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

func TestCandidatesWithoutAMixAreWrittenAsBefore(t *testing.T) {
	c := mixed()
	c.Mix = nil
	if text, err := json.Marshal(c); err != nil || strings.Contains(string(text), "mix") {
		t.Errorf("%s, %v", text, err)
	}
}

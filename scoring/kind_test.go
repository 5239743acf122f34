package scoring

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// mixedFeatures returns each features of each kind.
func mixedFeatures(dim, each int) *Features {
	rng := rand.New(rand.NewPCG(8, uint64(dim)))
	f := &Features{Map: MapCosine, Dim: dim, Ramps: each}
	for i := range 2 * each {
		for range dim {
			f.Omega = append(f.Omega, float32(rng.NormFloat64()))
		}
		f.Phase = append(f.Phase, float32(6*rng.Float64()))
		if i >= each {
			f.Phase[i] -= 3
		}
	}
	for i := range 2 * each {
		p := Product{Box: i >= each, Order: uint8(min(1+i%MaxOrder, dim))}
		for a, j := range rng.Perm(dim)[:p.Order] {
			p.Coordinate[a] = uint16(j)
			p.Sign[a] = float32(1 - 2*rng.IntN(2))
			p.Threshold[a] = float32(rng.NormFloat64())
		}
		f.Products = append(f.Products, p)
	}
	return f
}

// referenceProduct is a hinge or box of one row in float64.
func referenceProduct(p *Product, row []float32) float64 {
	v := 1.0
	for a := range p.Order {
		z := float64(p.Sign[a]) * (float64(row[p.Coordinate[a]]) - float64(p.Threshold[a]))
		switch {
		case !p.Box:
			v *= max(z, 0)
		case z < 0:
			v = 0
		}
	}
	return v
}

// Sums of a bank of mixed features are the sums of the features in row order, for any division into
// calls and any number of workers.
func TestMixedFeaturesAreScoredInRowOrder(t *testing.T) {
	const rows, outputs = 301, 2
	f := mixedFeatures(19, 70)
	x, y := normalRows(4, rows, f.Dim), Targets{Outputs: outputs, Values: normalRows(5, rows, outputs)}
	n := f.Len()
	phi := transform(f, x, rows)
	want := NewSums(f.Len(), outputs)
	for i, v := range phi {
		j, v := i%n, float64(v)
		want.Phi[j] += v
		want.PhiSq[j] += v * v
		for k := range outputs {
			want.YPhi[k*n+j] += float64(y.Values[i/n*outputs+k]) * v
		}
	}
	for _, step := range []int{rows, 7, 1} {
		for _, workers := range []int{1, 3} {
			a := NewAccumulator(NewBankOf(f), NewSums(n, outputs))
			a.SetWorkers(workers)
			for first := 0; first < rows; first += step {
				next := min(first+step, rows)
				a.Add(x[first*f.Dim:next*f.Dim], next-first, y.Slice(first, next))
			}
			got := a.Sums()
			if !slices.Equal(got.Phi, want.Phi) || !slices.Equal(got.PhiSq, want.PhiSq) || !slices.Equal(got.YPhi, want.YPhi) {
				t.Errorf("%d rows at a time, %d workers: other sums than those of the features", step, workers)
			}
		}
	}
}

// A value at a threshold is in the box, and a feature has the same bits in any set.
func TestBoxesHoldTheirThresholds(t *testing.T) {
	f := &Features{Map: MapCosine, Dim: 2, Phase: []float32{}, Products: []Product{
		{Order: 1, Coordinate: [3]uint16{1}, Sign: [3]float32{1}, Threshold: [3]float32{0.1}},
		{Box: true, Order: 1, Coordinate: [3]uint16{0}, Sign: [3]float32{1}, Threshold: [3]float32{0.1}},
		{Box: true, Order: 2, Coordinate: [3]uint16{1, 0}, Sign: [3]float32{-1, 1}, Threshold: [3]float32{0.1, -2}},
	}}
	below := math.Nextafter32(0.1, 0)
	got := transform(f, []float32{0.1, 0.1, below, below, 0.1, math.Nextafter32(0.1, 1), -3, 0.1}, 4)
	for i, want := range []float32{0, 1, 1, 0, 0, 1, math.Nextafter32(0.1, 1) - 0.1, 1, 0, 0, 0, 0} {
		if got[i] != want {
			t.Errorf("row %d, feature %d: %v, want %v", i/3, i%3, got[i], want)
		}
	}
}

func TestPickKeepsKinds(t *testing.T) {
	f := mixedFeatures(5, 4)
	picked := f.Pick([]int32{2, 0, 5, 9, 8, 15})
	if err := picked.Validate(); err != nil || picked.Kinds() != (KindCounts{Cosine: 2, Ramp: 1, Hinge: 2, Box: 1}) {
		t.Errorf("%+v, %v", picked.Kinds(), err)
	}
	x := normalRows(3, 6, 5)
	all, some := transform(f, x, 6), transform(picked, x, 6)
	for i := range 6 {
		for to, from := range []int{2, 0, 5, 9, 8, 15} {
			if some[i*6+to] != all[i*16+from] {
				t.Errorf("row %d, feature %d is %v, was %v", i, from, some[i*6+to], all[i*16+from])
			}
		}
	}
	panics(t, "scoring: ramp picked after hinge", func() { f.Pick([]int32{8, 4}) })
}

func TestMixedFeaturesFromOutsideAreChecked(t *testing.T) {
	nan := float32(math.NaN())
	for want, damage := range map[string]func(f *Features){
		"hinge 6 has 0 factors":                   func(f *Features) { f.Products[0].Order = 0 },
		"hinge 6 has 4 factors":                   func(f *Features) { f.Products[0].Order = 4 },
		"hinge 7 is on coordinate 5 of rows of 5": func(f *Features) { f.Products[1].Coordinate[0] = 5 },
		"hinge 7 has two factors on coordinate": func(f *Features) {
			f.Products[1].Coordinate[1] = f.Products[1].Coordinate[0]
		},
		"hinge 6 has a factor beyond its order 1": func(f *Features) { f.Products[0].Threshold[2] = 1 },
		"box 9 has the sign 0, want":              func(f *Features) { f.Products[3].Sign[0] = 0 },
		"box 9 has the threshold NaN":             func(f *Features) { f.Products[3].Threshold[0] = nan },
		"hinges and boxes are out of order":       func(f *Features) { f.Products[4].Box = false },
		"phase of feature 5 is NaN":               func(f *Features) { f.Phase[5] = nan },
		"phase of feature 0 is -1":                func(f *Features) { f.Phase[0] = -1 },
		"7 ramps among 6 features with an omega":  func(f *Features) { f.Ramps = 7 },
		"-1 ramps among":                          func(f *Features) { f.Ramps = -1 },
		"are all of one kind":                     func(f *Features) { f.Map, f.Phase = MapArcCosine1, nil },
		"beyond the 65536 coordinates that a prod": func(f *Features) {
			f.Dim = 65537
			f.Omega = nil
			f.Phase = []float32{}
			f.Ramps = 0
		},
	} {
		f := mixedFeatures(5, 3)
		damage(f)
		if err := f.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	for _, k := range Kinds() {
		var back Kind
		if text, err := json.Marshal(k); err != nil || json.Unmarshal(text, &back) != nil || back != k {
			t.Errorf("%v becomes %s and %v", k, text, back)
		}
	}
	if len(Kinds()) != kindCount || new(Kind).UnmarshalText([]byte("step")) == nil {
		t.Errorf("kinds %v", Kinds())
	}
}

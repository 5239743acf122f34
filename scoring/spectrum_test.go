package scoring

import (
	"math"
	"slices"
	"testing"
)

func TestSpectrumRanksAsTheCriterionDoes(t *testing.T) {
	f := drawFeatures(MapCosine, 4, 50)
	x := normalRows(1, datasetRows, 4)
	for _, d := range datasets() {
		s := scoreRows(f, x, datasetRows, d.targets)
		for _, criterion := range []Criterion{Energy, Correlation} {
			sel, err := Select(s, d.task, criterion, 50)
			if err != nil {
				t.Fatal(err)
			}
			have := s.Spectrum(d.task, criterion, MapCosine, 50)
			if !slices.Equal(have.Index, sel.Index) {
				t.Errorf("%s %v: ranked %v, selected %v", d.name, criterion, have.Index, sel.Index)
			}
			for i, value := range have.Value {
				if criterion == Energy {
					near(t, d.name+" norm", value*value, sel.Score[i], 1e-12)
				} else if value < 0 || value > 1+1e-9 {
					t.Errorf("%s: correlation %v", d.name, value)
				}
			}
		}
	}
}

// The radii are those that a selection reports, of all candidates also where some are looked at.
func TestSpectrumRadius(t *testing.T) {
	const rows = 300
	x, y := normalRows(1, rows, 3), Targets{Outputs: 2, Values: normalRows(2, rows, 2)}
	bounded := scoreRows(drawFeatures(MapCosine, 3, 20), x, rows, y).Spectrum(Regression, Energy, MapCosine, 80)
	want := math.Sqrt2 * HoeffdingRadius(80, 2, rows, Delta)
	near(t, "noise", bounded.Noise, want, 1e-12)
	near(t, "radius", bounded.Radius[7], want, 1e-12)

	ramp := scoreRows(drawFeatures(MapArcCosine1, 3, 20), x, rows, y)
	all := ramp.Spectrum(Regression, Energy, MapArcCosine1, 20)
	sel, err := Select(ramp, Regression, Energy, 20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Radius {
		near(t, "large-sample radius", all.Radius[i], math.Sqrt2*sel.LargeSampleRadius[i], 1e-12)
	}
	if some := ramp.Spectrum(Regression, Energy, MapArcCosine1, 80); some.Radius[0] <= all.Radius[0] || some.Noise != 0 {
		t.Errorf("radius %v of 20 among 80, %v of 20; noise %v", some.Radius[0], all.Radius[0], some.Noise)
	}
}

package scoring

import (
	"math"
	"slices"
	"testing"
)

// dataset is rows with raw outputs, and the coded outputs for the scores.
type dataset struct {
	name    string
	task    Task
	targets Targets
	coded   func(row, k int) float64
}

const datasetRows = 211

// datasets returns one for each kind of labels.
func datasets() []dataset {
	one := Targets{Outputs: 1, Values: normalRows(21, datasetRows, 1)}
	two := Targets{Outputs: 2, Values: normalRows(22, datasetRows, 2)}
	for i := range datasetRows {
		one.Values[i] = one.Values[i]*3 + 20
		two.Values[2*i] = two.Values[2*i]*100 - 7
	}
	binary := Targets{Outputs: 1, Values: make([]float32, datasetRows)}
	for i := range datasetRows {
		binary.Values[i] = float32(i%3%2*2 - 1)
	}
	class := classTargets(datasetRows, 4)
	return []dataset{
		{"regression", Regression, one, codedByRange(one)},
		{"two outputs", Regression, two, codedByRange(two)},
		{"binary", Binary, binary, func(i, _ int) float64 { return float64(binary.Values[i]) }},
		{"classes", MultiClass, class, func(i, k int) float64 { return rawOutputs(class, i)[k] - 0.25 }},
	}
}

// codedByRange codes regression outputs in two passes: each divided by its standard deviation (when
// there are several) and taken about the middle of its range, then all divided by the widest
// half-range.
func codedByRange(t Targets) func(row, k int) float64 {
	rows := len(t.Values) / t.Outputs
	unit := make([]float64, t.Outputs)
	middle := make([]float64, t.Outputs)
	widest := 0.0
	for k := range t.Outputs {
		var column []float64
		mean := 0.0
		for i := range rows {
			column = append(column, float64(t.Values[i*t.Outputs+k]))
			mean += column[i] / float64(rows)
		}
		for _, v := range column {
			unit[k] += (v - mean) * (v - mean) / float64(rows)
		}
		unit[k] = math.Sqrt(unit[k])
		middle[k] = (slices.Min(column) + slices.Max(column)) / 2
		widest = max(widest, (slices.Max(column)-middle[k])/unit[k])
	}
	return func(row, k int) float64 {
		return (float64(t.Values[row*t.Outputs+k]) - middle[k]) / unit[k] / widest
	}
}

func TestScoresAndCriteriaEqualTwoPassComputations(t *testing.T) {
	for _, m := range allMaps {
		f := drawFeatures(m, 9, 9)
		x := normalRows(31, datasetRows, 9)
		for _, d := range datasets() {
			t.Run(d.name+" "+m.String(), func(t *testing.T) {
				s := scoreRows(f, x, datasetRows, d.targets)
				scores := s.Scores(s.Coding(d.task))
				energy := CriterionValues(s, d.task, Energy)
				correlation := CriterionValues(s, d.task, Correlation)
				for j := range f.Len() {
					wantEnergy, wantCorrelation := 0.0, 0.0
					for k := range d.targets.Outputs {
						mean, cov, variance := moments(f, j, x, func(i int) float64 { return d.coded(i, k) })
						near(t, "Ŝ", scores[j*d.targets.Outputs+k], mean, 2e-5)
						wantEnergy += mean * mean
						wantCorrelation += cov * cov / variance
					}
					near(t, "energy", energy[j], wantEnergy, 5e-5)
					near(t, "correlation", correlation[j], wantCorrelation, 5e-5)
				}
			})
		}
	}
}

// moments returns E[yφ], cov(y, φ) and var(φ) of feature j in float64, by two passes.
func moments(f *Features, j int, x []float32, y func(i int) float64) (product, cov, variance float64) {
	n := float64(datasetRows)
	phi := make([]float64, datasetRows)
	meanPhi, meanY := 0.0, 0.0
	for i := range phi {
		phi[i] = referencePhi(f, j, x[i*f.Dim:(i+1)*f.Dim])
		meanPhi += phi[i] / n
		meanY += y(i) / n
		product += y(i) * phi[i] / n
	}
	for i, v := range phi {
		cov += (y(i) - meanY) * (v - meanPhi) / n
		variance += (v - meanPhi) * (v - meanPhi) / n
	}
	return product, cov, variance
}

func TestCodedOutputsReachButNeverExceedOne(t *testing.T) {
	for _, d := range datasets() {
		s := scoreRows(drawFeatures(MapCosine, 2, 1), normalRows(1, datasetRows, 2), datasetRows, d.targets)
		c := s.Coding(d.task)
		greatest := 0.0
		for i := range datasetRows {
			for k, raw := range rawOutputs(d.targets, i) {
				y := c.Gain[k]*raw + c.Offset[k]
				near(t, d.name, y, d.coded(i, k), 1e-12)
				greatest = max(greatest, math.Abs(y))
			}
		}
		want := 1.0
		if d.task == MultiClass {
			want = 0.75
		}
		near(t, "greatest |y| of "+d.name, greatest, want, 1e-12)
	}
}

func TestConstantOutputsGetNoGain(t *testing.T) {
	y := []float32{5, 1, 5, 2, 5, 3}
	s := scoreRows(drawFeatures(MapCosine, 1, 2), normalRows(1, 3, 1), 3, Targets{Outputs: 2, Values: y})
	c := s.Coding(Regression)
	if c.Gain[0] != 0 || c.Offset[0] != 0 || c.Gain[1] != 1 || c.Offset[1] != -2 {
		t.Errorf("coding is %+v", c)
	}
	if c := NewSums(1, 1).Coding(Regression); c.Gain[0] != 0 || c.Offset[0] != 0 {
		t.Errorf("coding without rows is %+v", c)
	}
}

func TestNearlyConstantFeaturesScoreNoCorrelation(t *testing.T) {
	f := &Features{Map: MapLinear, Dim: 3, Omega: []float32{0, 1, 2}}
	x := []float32{1000, 1, 0, 1000.5, 1.5, 0, 1000, 1, 0, 1000.5, 1.5, 0}
	s := scoreRows(f, x, 4, Targets{Outputs: 1, Values: []float32{-1, 1, -1, 1}})
	v := CriterionValues(s, Binary, Correlation)
	if v[0] != 0 || v[2] != 0 {
		t.Errorf("constants score %v and %v, want 0", v[0], v[2])
	}
	near(t, "the same steps without the constant", v[1], 1, 1e-12)
}

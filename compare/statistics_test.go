package compare

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

func TestMeanAndStandardErrorByHand(t *testing.T) {
	m := meanOf([]float64{1, 2, 6}) // deviations -2, -1, 3: variance 14/2 = 7, standard error √(7/3)
	if !near(m.Mean, 3) || !near(*m.Error, math.Sqrt(7.0/3)) {
		t.Errorf("mean %v ± %v, want 3 ± √(7/3)", m.Mean, *m.Error)
	}
	if one := meanOf([]float64{4}); one.Mean != 4 || one.Error != nil {
		t.Errorf("of one value: %+v, want 4 without an error", one)
	}
	if !m.Clear() == (3 > 2*math.Sqrt(7.0/3)) {
		t.Errorf("3 ± %v: clear is %t", *m.Error, m.Clear())
	}
	same := meanOf([]float64{2, 2})
	if !same.Clear() || same.Mean != 2 || *same.Error != 0 {
		t.Errorf("of equal values: %+v", same)
	}
}

func TestDifferencesPairEqualRepeats(t *testing.T) {
	got := differences(map[int]float64{0: 5, 1: 7, 3: 1}, map[int]float64{1: 6.5, 0: 4, 2: 9})
	if len(got) != 2 || got[0] != 1 || got[1] != 0.5 {
		t.Errorf("differences %v, want [1 0.5]", got)
	}
}

func TestLineByHand(t *testing.T) {
	plain, other := &cell{}, &cell{}
	for i, e := range []float64{10, 12} {
		plain.add(Measurement{Method: Plain, Repeat: i, Error: e}, &measured{rowLoss: []float64{1, 0}}, true)
	}
	for i, e := range []float64{9, 10} {
		other.add(Measurement{Method: "energy", Repeat: i, Error: e, Preprocess: 1 + float64(i), Train: 4, Note: "x"},
			&measured{rowLoss: []float64{0, float64(i)}}, true)
	}
	other.add(Measurement{Method: "energy", Repeat: 2, Failure: "no"}, nil, true)
	l := other.line(energyMethod, map[string]*cell{Plain: plain, "linear": nil})
	if l.Repeats != 2 || !near(l.Error.Mean, 9.5) || !near(*l.Error.Error, 0.5) {
		t.Errorf("error %+v of %d repeats, want 9.5 ± 0.5 of 2", l.Error, l.Repeats)
	}
	if d := l.Differences[Plain]; !near(d.Mean, -1.5) || !near(*d.Error, 0.5) || !d.Clear() || len(l.Differences) != 1 {
		t.Errorf("differences %+v, want -1.5 ± 0.5 to plain features", l.Differences)
	}
	if l.Preprocess != 1.5 || l.Train != 4 || l.Note != "x (2 of 3)" || l.Failure != "no" {
		t.Errorf("line %+v", l)
	}
	if own := plain.line(plainMethod, map[string]*cell{Plain: plain}); own.Differences != nil {
		t.Errorf("plain features differ from themselves: %+v", own)
	}
}

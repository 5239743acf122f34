package compare

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

func TestLineByHand(t *testing.T) {
	plain, other := &cell{}, &cell{}
	for i, e := range []float64{10, 12} {
		plain.add(Measurement{Method: Plain, Repeat: i, Error: e}, &measured{error: e})
	}
	for i, e := range []float64{9, 10} {
		other.add(Measurement{Method: "energy", Repeat: i, Error: e, Preprocess: 1 + float64(i), Train: 4, Note: "x"},
			&measured{error: e})
	}
	other.add(Measurement{Method: "energy", Repeat: 2, Failure: "no"}, nil)
	l := other.line("energy", plain)
	if l.Repeats != 2 || !near(l.Error.Mean, 9.5) || !near(*l.Error.Error, 0.5) {
		t.Errorf("error %+v of %d repeats, want 9.5 ± 0.5 of 2", l.Error, l.Repeats)
	}
	if d := l.Difference; !near(d.Mean, -1.5) || !near(*d.Error, 0.5) || !d.Clear() {
		t.Errorf("difference %+v, want -1.5 ± 0.5 to plain features", d)
	}
	if l.Preprocess != 1.5 || l.Train != 4 || l.Note != "x (2 of 3)" || l.Failure != "no" {
		t.Errorf("line %+v", l)
	}
	if own := plain.line(Plain, plain); own.Difference != nil {
		t.Errorf("plain features differ from themselves: %+v", own)
	}
}

package training

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestThresholdsThatCannotDecideAreRefused(t *testing.T) {
	for _, c := range []struct {
		threshold float64
		classes   int
		loss      string
		want      string // "" = accepted
	}{
		{0.3, 2, LossLogistic, ""},
		{0, 5, LossSquared, ""},
		{0, 0, LossSquared, ""},
		{1, 2, LossLogistic, "above 0 and below 1"},
		{-0.1, 2, LossLogistic, "above 0 and below 1"},
		{math.NaN(), 2, LossLogistic, "above 0 and below 1"},
		{0.3, 0, LossSquared, "the label is a number"},
		{0.3, 3, LossLogistic, "the label has 3 classes"},
		{0.3, 2, LossSquared, "has no probabilities"},
	} {
		err := CheckThreshold(c.threshold, c.classes, c.loss)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCostsAreTwoPositiveNumbers(t *testing.T) {
	for text, want := range map[string]float64{"1:5": 1. / 6, "1:1": 0.5, " 3 : 1 ": 0.75, "0.5:1.5": 0.25} {
		if c, err := ParseCosts(text); err != nil || c.Threshold() != want {
			t.Errorf("%q: threshold %v, %v; want %v", text, c.Threshold(), err, want)
		}
	}
	for _, text := range []string{
		"", "5", "1:", ":1", "1:0", "0:1", "-1:1", "1:NaN", "1:Inf", "1:2:3", "1e-300:1e300", "a:b",
	} {
		if c, err := ParseCosts(text); err == nil {
			t.Errorf("%q is accepted as %v", text, c)
		}
	}
}

// A row is decided by the cut as by its probability, except where that is the threshold to the last
// bits; the cut of 1/2 decides as no cut does.
func TestCutDecidesByTheProbability(t *testing.T) {
	if Cut(0.5) != 0 || Cut(0) != 0 {
		t.Errorf("cuts %v, %v", Cut(0.5), Cut(0))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	p := make([]float32, 2)
	for range 20_000 {
		threshold := math.Exp2(-12*rng.Float64()) * 0.999
		f := []float32{float32(5 * rng.NormFloat64())}
		Probabilities(p, f)
		if math.Abs(float64(p[1])-threshold) < 1e-6 {
			continue
		}
		if got := DecideAbove(f, 1, Cut(threshold)) == 1; got != (float64(p[1]) > threshold) {
			t.Fatalf("probability %v, threshold %v: decided %v", p[1], threshold, got)
		}
	}
}

// The counts of decisions are those of rows decided one by one, also for a threshold added later.
func TestDecisionsCountRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := NewClassification(1, 0)
	c.Logits = true
	const rows = 500
	f, class := make([]float32, rows), make([]int32, rows)
	for i := range f {
		f[i], class[i] = float32(math.Round(4*rng.NormFloat64())/4), int32(rng.IntN(2))
	}
	c.Add(f, class)
	c.AddUnknown(7)
	m := c.Measures()
	m.AddDecision(0.17)
	m.AddDecision(0.17)
	m.AddDecision(0.5)
	if len(m.Decisions) != len(listedThresholds)+1 {
		t.Fatalf("%d decisions", len(m.Decisions))
	}
	costs := Costs{FalsePositive: 2, FalseNegative: 3}
	last := 0.0
	for _, d := range m.Decisions {
		if d.Threshold <= last {
			t.Errorf("threshold %v after %v", d.Threshold, last)
		}
		last = d.Threshold
		var decided, right, positives int64
		cost := 0.0
		for i := range f {
			yes := DecideAbove(f[i:i+1], 1, Cut(d.Threshold)) == 1
			positives += int64(class[i])
			switch {
			case yes && class[i] == 1:
				decided, right = decided+1, right+1
			case yes:
				decided, cost = decided+1, cost+2
			case class[i] == 1:
				cost += 3
			}
		}
		recall, perRow := m.Outcome(d, costs)
		if d.Decided != decided || d.Right != right || recall != float64(right)/float64(positives) ||
			math.Abs(perRow-cost/rows) > 1e-12 {
			t.Errorf("%+v with recall %v and cost %v, want %d decided, %d right, cost %v",
				d, recall, perRow, decided, right, cost/rows)
		}
		if d.Threshold == 0.5 && rows-decided-(positives-right)+right != rows-(c.Wrong-c.Unknown) {
			t.Errorf("at 0.5 %d rows are right, the classification has %d wrong", rows-decided-(positives-right)+right, c.Wrong)
		}
	}
}

// Regressions, many classes and the squared loss have no decisions.
func TestOnlyProbabilitiesOfTwoClassesHaveDecisions(t *testing.T) {
	squared := NewClassification(1, 0)
	squared.Add([]float32{1, -1}, []int32{1, 0})
	three := NewClassification(3, 0)
	three.Logits = true
	three.Add([]float32{1, -1, 0}, []int32{1})
	for _, c := range []*Classification{squared, three} {
		m := c.Measures()
		m.AddDecision(0.3)
		if m.Decisions != nil {
			t.Errorf("decisions %+v", m.Decisions)
		}
	}
}

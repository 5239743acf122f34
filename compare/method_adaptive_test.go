package compare

import (
	"testing"

	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

func TestLearnedFrequenciesBeatChosenOnes(t *testing.T) {
	o := quick()
	o.Methods, o.Features, o.Sample = []string{"residual", "adaptive", "adaptive-refined"}, []int{12}, 1
	r := run(t, made{task: scoring.Regression, rows: 1200, dim: 12}, o)
	residual, refined := line(t, r, "residual"), line(t, r, "adaptive-refined")
	if !(refined.Error.Mean < residual.Error.Mean/2) || !refined.Best && !refined.Tied {
		t.Errorf("residual %+v, refined %+v", residual, refined)
	}
	if refined.Note == "" {
		t.Errorf("refined %+v", refined)
	}
}

// Rows that λ is chosen on teach no method anything, and rows that learned features are judged by teach no frequencies.
func TestLambdaIsChosenOnRowsThatTaughtNothing(t *testing.T) {
	o := quick()
	o.Sample = 1
	split, err := made{task: scoring.MultiClass, rows: 900, classes: 3}.Split(datasets.SplitOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRepeat(o, 0, split)
	if err != nil {
		t.Fatal(err)
	}
	l := r.newTrial(8).lesson(true)
	taught, sampled := int64(0), map[int32]bool{}
	for i, row := range r.pool.list {
		sampled[row] = true
		if !l.sample.HeldOut[i] {
			taught++
		}
	}
	if taught != l.sums.Rows || taught >= int64(l.sample.Rows) {
		t.Errorf("%d of %d rows teach, and %d were scored", taught, l.sample.Rows, l.sums.Rows)
	}
	for row, out := range r.heldOut {
		if out == sampled[int32(row)] {
			t.Errorf("row %d: λ is chosen on it %v, features %v", row, out, sampled[int32(row)])
		}
	}
}

func TestSampleSizes(t *testing.T) {
	for name, c := range map[string]struct {
		share          float64
		bound, n, want int
	}{
		"a share":                {0.1, 0, 20000, 2000},
		"a bound":                {1, 10000, 43945, 10000},
		"a bound above":          {0.1, 10000, 43945, 4395},
		"the least":              {0.01, 0, 600, 50},
		"no less by a bound":     {1, 20, 600, 50},
		"no more than there are": {1, 10000, 40, 40},
	} {
		o := Options{Sample: c.share, SampleRows: c.bound}
		if got := o.sampleSize(c.n); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

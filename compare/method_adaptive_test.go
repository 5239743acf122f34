package compare

import (
	"testing"

	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

func TestLearnedFrequenciesBeatChosenOnes(t *testing.T) {
	o := quick()
	o.Methods = []string{"residual", "adaptive-refined"}
	o.Features = []int{12}
	o.Sample = 1
	o.Repeats = 1
	r := run(t, made{task: scoring.Regression, rows: 1200, dim: 12}, o)
	residual, refined := line(t, r, "residual"), line(t, r, "adaptive-refined")
	if !(refined.Error.Mean < residual.Error.Mean/2) || !refined.Best && !refined.Tied {
		t.Errorf("residual %+v, refined %+v", residual, refined)
	}
	if refined.Note == "" {
		t.Errorf("refined %+v", refined)
	}
}

func TestMembersAreLearned(t *testing.T) {
	for members, mean := range map[int]bool{0: false, 1: false, 3: true} {
		o := quick()
		o.Methods, o.Features, o.Members = []string{"adaptive-refined"}, []int{12}, members
		o.Sample, o.Repeats = 1, 1
		refined := line(t, run(t, made{task: scoring.Regression, rows: 400, dim: 6}, o), "adaptive-refined")
		if (refined.Note == "the mean of several members") != mean {
			t.Errorf("%d members: %q", members, refined.Note)
		}
	}
}

// No method learns from the rows on which λ is chosen; the sampled ones among them judge learned
// features.
func TestLambdaIsChosenOnHeldOutRows(t *testing.T) {
	for _, share := range []float64{0.5, 1} {
		o := quick()
		o.Sample = share
		split, err := made{task: scoring.MultiClass, rows: 900, classes: 3}.Split(datasets.SplitOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		r, err := newRepeat(o, 0, split)
		if err != nil {
			t.Fatal(err)
		}
		l := r.newTrial(8).lesson(true)
		taught := l.sample.Rows - countTrue(l.sample.HeldOut)
		if l.sample.Rows != o.sampleSize(r.train.rows) || int64(taught) != l.sums.Rows || taught == l.sample.Rows {
			t.Errorf("%d of %d rows teach, and %d were scored", taught, l.sample.Rows, l.sums.Rows)
		}
		for i, row := range firstByHash(r.seed, r.train.rows, l.sample.Rows, nil) {
			if r.heldOut[row] != l.sample.HeldOut[i] {
				t.Errorf("row %d: λ is chosen on it %v, features are judged by it %v", row, r.heldOut[row], l.sample.HeldOut[i])
			}
		}
		for _, row := range r.pool.list {
			if r.heldOut[row] {
				t.Errorf("candidates are scored on row %d, λ is chosen on it", row)
			}
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

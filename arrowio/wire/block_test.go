package wire

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// Sums of parts are the sums of the whole, in whatever pieces scores come.
func TestLiveSumsMerge(t *testing.T) {
	whole := exampleLive()
	for range 4 {
		more := exampleLive()
		more.Scores[0] = []ScoreBin{{0, 1}}
		whole.Merge(more)
	}
	want := exampleLive()
	want.Rows, want.Loss, want.Squares, want.Wrong = 15, 7.5, 6.25, 5
	want.Classes, want.Scores = []int64{5, 10}, [2][]ScoreBin{{{0, 4}, {100, 1}}, {{512, 5}, {1023, 5}}}
	diff(t, want, whole)
	if err := whole.Validate(); err != nil {
		t.Error(err)
	}
}

// A model's sums in another shape, as a forged message may have them, are kept apart.
func TestBlockKeepsDifferentShapesApart(t *testing.T) {
	b := exampleBlock()
	other := exampleLive()
	b.Add(other)
	b.Add(other)
	if len(b.Models) != 3 || b.Models[2].Rows != 6 || b.Rows() != 10 {
		t.Errorf("%+v", b)
	}
	if other.Rows != 3 {
		t.Error("the block has changed what it was given")
	}
}

func TestBlockRoundTrip(t *testing.T) {
	want := exampleBlock()
	want.From, want.To = want.From.UTC(), want.To.UTC()
	got, err := DecodeBlock(must(EncodeBlock(want)))
	if err != nil {
		t.Fatal(err)
	}
	diff(t, want, got)
}

func TestLiveSumsRefuseImpossibleValues(t *testing.T) {
	minus := -1.0
	for name, change := range map[string]func(*LiveSums){
		"a column without end": func(s *LiveSums) { s.Column = strings.Repeat("x", 1000) },
		"no model":             func(s *LiveSums) { s.Model = "" },
		"no measure":           func(s *LiveSums) { s.Measure = "luck" },
		"no rows":              func(s *LiveSums) { s.Rows = 0 },
		"more wrong than rows": func(s *LiveSums) { s.Wrong = 4 },
		"more unknown than wrong": func(s *LiveSums) {
			s.Unknown = 2
			s.Classes = []int64{1, 0}
		},
		"a class and unknown":   func(s *LiveSums) { s.Unknown = 1 },
		"loss that is NaN":      func(s *LiveSums) { s.Loss = math.NaN() },
		"a negative promise":    func(s *LiveSums) { s.Promised = &minus },
		"more classes' rows":    func(s *LiveSums) { s.Classes[0] = 9 },
		"neither label":         func(s *LiveSums) { s.Classes = nil },
		"both labels":           func(s *LiveSums) { s.Outputs = make([]OutputSums, 1) },
		"bins out of order":     func(s *LiveSums) { s.Scores[1][1][0] = 3 },
		"a bin beyond the last": func(s *LiveSums) { s.Scores[1][1][0] = ScoreBins },
		"more scores than rows": func(s *LiveSums) { s.Scores[1][1][1] = 3 },
	} {
		s := exampleLive()
		change(s)
		if s.Validate() == nil {
			t.Errorf("%s: accepted %+v", name, s)
		}
	}
	brought := exampleLive()
	brought.Column = "said \"é\"\x01"
	unknown := exampleLive()
	unknown.Unknown, unknown.Classes = 1, []int64{1, 1}
	for _, s := range []*LiveSums{exampleLive(), brought, unknown} {
		if got, err := ParseLive([]Header{LiveHeader(s)}); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	if brought.Alike(exampleLive()) {
		t.Error("what rows bring is added to what a model says")
	}
}

package wire

import (
	"math"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/training"
)

// adaptiveSpec asks for learned features.
func adaptiveSpec() *Spec {
	s := exampleSpec()
	s.Criterion, s.Rounds, s.RefineSteps, s.RefineRounds = scoring.Adaptive, 3, 40, 1
	s.Candidates = adaptive.FirstRound(s.Candidates)
	return s
}

// heldOutCheckpoint is a checkpoint of that spec: some of its rows are only in the sample.
func heldOutCheckpoint() *Checkpoint {
	c := exampleCheckpoint()
	c.SpecHash, c.Counts.HeldOut = adaptiveSpec().Hash(), 18
	c.Sums.Rows = c.Counts.Scored - c.Counts.HeldOut
	return c
}

// learnedPoints are the sets of features on the way to [learnedFeatureSet].
func learnedPoints() []adaptive.Point {
	return []adaptive.Point{
		{Kind: adaptive.ByResidual, Loss: 0.4, StdErr: 0.02}, {Kind: adaptive.ByRound, Loss: 0.3, StdErr: 0.015},
		{
			Kind:   adaptive.ByRound,
			Round:  1,
			Loss:   0.125,
			StdErr: 0.01,
		}, {Kind: adaptive.ByStep, Round: 1, Step: 4, Loss: 0.0625, StdErr: 0.005},
	}
}

// learnedFeatureSet has features that were moved; two rounds drew a candidate of the same number.
func learnedFeatureSet() *FeatureSet {
	f := exampleFeatureSet()
	f.Candidates = adaptiveSpec().Candidates
	f.Set.Index, f.Set.Round = []int32{3, 15, 3, 8}, []int32{2, 2, 1, 2}
	l := &f.Lineage
	l.Criterion, l.Rounds, l.RefineSteps, l.RefineRounds = scoring.Adaptive, 3, 40, 1
	l.Counts.HeldOut, l.Radius, l.AboveNoise = 80, 0, 0
	l.Learning = &adaptive.Report{
		Points:      learnedPoints(),
		Winner:      3,
		Rows:        320,
		HeldOutRows: 80,
		Importance:  []float64{0.25, 0, 0.125, 0.25, 0.0625, 0.3125, 0},
	}
	return f
}

func learnedProgress() *Progress {
	p := exampleProgress()
	p.Rounds, p.Points = adaptive.Options{}.AllRounds(), learnedPoints()[:3]
	return p
}

// unseenModel is a model whose held-out rows come from other events than its features were learned
// from.
func unseenModel() *Model {
	m := exampleModel()
	m.FeatureSetID, m.NotHeldOut = learnedFeatureSet().ID(), []Span{{Partition: 0, StartOffset: 5, NextOffset: 99}}
	return m
}

// seenModel is a model that had too few such rows.
func seenModel() *Model {
	m := exampleModel()
	m.FeatureSetID, m.Metrics.Seen = learnedFeatureSet().ID(), &SeenRows{InRanges: 60, Share: 0.06}
	return m
}

func TestSpecRefusesSettingsOfOtherCriteria(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"adaptive without rounds": func(s *Spec) { s.Rounds = 0 },
		"steps below zero":        func(s *Spec) { s.RefineSteps = -1 },
		"steps of residual":       func(s *Spec) { s.Criterion = scoring.Residual },
		"rounds below zero":       func(s *Spec) { s.RefineRounds = -1 },
		"rounds of no refinement": func(s *Spec) { s.RefineSteps = 0 },
		"another map":             func(s *Spec) { s.Candidates.Map = scoring.MapArcCosine1 },
		"another distribution":    func(s *Spec) { s.Candidates.Varied, s.Candidates.Distribution = false, scoring.Cauchy },
	} {
		s := adaptiveSpec()
		if change(s); s.Validate() == nil {
			t.Errorf("%s is valid", name)
		}
	}
}

func TestHeldOutRowsAreNotInTheSums(t *testing.T) {
	for name, change := range map[string]func(*Checkpoint){
		"sums of all rows":        func(c *Checkpoint) { c.Sums.Rows = c.Counts.Scored },
		"more held out than rows": func(c *Checkpoint) { c.Counts.HeldOut = c.Counts.Scored + 1 },
	} {
		c := heldOutCheckpoint()
		if change(c); c.Validate() == nil {
			t.Errorf("%s: valid", name)
		}
	}
	c := heldOutCheckpoint()
	c.SpecHash = exampleSpec().Hash()
	wantError(t, c.CheckAgainst(exampleSpec(), "fma1"), ErrSpecMismatch) // its criterion holds out no rows
}

func TestLearnedSetsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*FeatureSet){
		"a candidate twice in a round": func(f *FeatureSet) { f.Set.Index[1] = 3 },
		"a candidate below zero":       func(f *FeatureSet) { f.Set.Index[1] = -1 },
		"no winner":                    func(f *FeatureSet) { f.Lineage.Learning.Winner = 4 },
		"a winner below zero":          func(f *FeatureSet) { f.Lineage.Learning.Winner = -1 },
		"no points":                    func(f *FeatureSet) { f.Lineage.Learning.Points = nil },
		"another kind":                 func(f *FeatureSet) { f.Lineage.Learning.Points[0].Kind = "luck" },
		"an infinite loss":             func(f *FeatureSet) { f.Lineage.Learning.Points[0].Loss = math.Inf(1) },
		"importance of other columns":  func(f *FeatureSet) { f.Lineage.Learning.Importance = []float64{1} },
		"importance that is no number": func(f *FeatureSet) { f.Lineage.Learning.Importance[0] = math.NaN() },
		"rows below zero":              func(f *FeatureSet) { f.Lineage.Learning.HeldOutRows = -1 },
	} {
		f := learnedFeatureSet()
		if change(f); f.Validate() == nil {
			t.Errorf("%s: valid", name)
		}
	}
	// Features chosen by residual come from one pool, even if adaptive fell back to it.
	f := learnedFeatureSet()
	f.Lineage.Learning.Winner = 0
	if f.Lineage.Learned() || f.Validate() == nil {
		t.Error("a fallback with a candidate twice is valid")
	}
}

// Dimensions that the encoder made from a column count for that column.
func TestImportanceAddsUpByColumn(t *testing.T) {
	want := []ColumnImportance{{"city", 0.4375}, {"pixels", 0.3125}, {"age", 0.25}, {"vip", 0}}
	diff(t, want, learnedFeatureSet().Importance())
	if have := exampleFeatureSet().Importance(); have != nil {
		t.Errorf("importance %v of a set that was not learned", have)
	}
}

func TestModelKnowsItsHeldOutRows(t *testing.T) {
	m := unseenModel()
	m.HeldOutFraction = 1
	for id, want := range map[training.RowID]bool{
		{Partition: 0, Offset: 4}: true, {Partition: 0, Offset: 5}: false, {Partition: 0, Offset: 98}: false,
		{Partition: 0, Offset: 99}: true, {Partition: 1, Offset: 50}: true,
	} {
		if m.HeldOut(id) != want {
			t.Errorf("%+v held out: %v", id, !want)
		}
	}
	m.NotHeldOut[0].NextOffset = 4
	if m.Validate() == nil {
		t.Error("a span that ends before it begins is valid")
	}
}

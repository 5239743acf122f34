package wire

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

func TestRoundTrips(t *testing.T) {
	dec := newDecoder()
	cancelled := &Spec{
		Plan:          Plan{Pipeline: "income", Sequence: 3},
		Status:        StatusCancelled,
		HandledOffset: 5,
	} // needs no plan
	for _, want := range []*Spec{exampleSpec(), adaptiveSpec(), cancelled} {
		got := must(DecodeSpec(must(EncodeSpec(want))))
		if got.Hash() != want.Hash() {
			t.Error("the hash changed on the way")
		}
		want.PlannedAt = want.PlannedAt.UTC()
		diff(t, want, got)
	}
	for _, want := range []*Checkpoint{exampleCheckpoint(), heldOutCheckpoint()} {
		got := must(DecodeCheckpoint(dec, must(EncodeCheckpoint(want))))
		want.WrittenAt = noon.UTC()
		diff(t, want, got)
	}
	for _, want := range []*FeatureSet{exampleFeatureSet(), linearFeatureSet(), learnedFeatureSet(), mixedFeatureSet()} {
		got := must(DecodeFeatureSet(dec, must(EncodeFeatureSet(want))))
		if got.ID() != want.ID() {
			t.Errorf("id %s became %s", want.ID(), got.ID())
		}
		want.Lineage.SelectedAt = noon.UTC()
		diff(t, want, got)
	}
	for _, want := range []*Model{exampleModel(), exampleChallenger(), unseenModel(), seenModel()} {
		got := must(DecodeModel(dec, must(EncodeModel(want))))
		want.ID, want.TrainedAt = ModelID(want), noon.UTC()
		diff(t, want, got)
	}
	if ModelID(exampleChallenger()) != ModelID(exampleModel()) {
		t.Error("how a model was judged changes its id")
	}
	request, progress := exampleRequest(), learnedProgress()
	request.Time, progress.Time = noon.UTC(), noon.UTC()
	diff(t, request, must(DecodeRequest(must(EncodeRequest(exampleRequest())))))
	diff(t, progress, must(DecodeProgress(must(EncodeProgress(learnedProgress())))))
	for _, want := range []*Current{exampleCurrent(), exampleRollback()} {
		got := must(DecodeCurrent(must(EncodeCurrent(want))))
		want.Time = noon.UTC()
		diff(t, want, got)
	}
}

func TestSpecHashCoversOnlyThePlan(t *testing.T) {
	base := exampleSpec().Hash()
	same := map[string]func(*Spec){
		"status":         func(s *Spec) { s.Status = StatusCancelled },
		"config hash":    func(s *Spec) { s.ConfigHash = "x" },
		"handled offset": func(s *Spec) { s.HandledOffset++ },
		"times":          func(s *Spec) { s.PlannedAt, s.Reason = time.Time{}, "" },
		"id":             func(s *Spec) { s.Exploration = "x" },
		"notes":          func(s *Spec) { s.EditNote(2).ReportedTo = 9 },
	}
	for name, change := range same {
		s := exampleSpec()
		if change(s); s.Hash() != base {
			t.Errorf("%s is hashed", name)
		}
	}
	differs := map[string]func(*Spec){
		"seed":      func(s *Spec) { s.Candidates.Seed-- },
		"varied":    func(s *Spec) { s.Candidates.Varied = true },
		"encoder":   func(s *Spec) { s.Encoder.Clip = 4 },
		"rate":      func(s *Spec) { s.SampleRate = 0.2 },
		"partition": func(s *Spec) { s.Partitions[1].StartOffset++ },
		"quota":     func(s *Spec) { s.Partitions[0].Quota++ },
		"limits":    func(s *Spec) { s.Limits.MaxRows++ },
		"steps":     func(s *Spec) { s.RefineSteps++ },
		"refining":  func(s *Spec) { s.RefineRounds++ },
		"rounds":    func(s *Spec) { s.Rounds++ },
	}
	for name, change := range differs {
		s := exampleSpec()
		if change(s); s.Hash() == base {
			t.Errorf("%s is not hashed", name)
		}
	}
}

func TestSamplesRoundTrip(t *testing.T) {
	for _, classes := range []bool{true, false} {
		want := exampleSamples(classes)
		value, headers, err := EncodeSamples(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSamples(newDecoder(), value, headers)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, want, got)
		if !SamplesOf(headers, want.SpecHash, want.Partition) || SamplesOf(headers, want.SpecHash, 1) ||
			SamplesOf(headers, "other", want.Partition) {
			t.Error("headers do not say whose samples these are")
		}
	}
}

// A mark depends on every bit of the rows and on their order, not on how they are cut into
// messages.
func TestSampleMarkChainsRows(t *testing.T) {
	for _, classes := range []bool{true, false} {
		whole, s := SampleMark{FirstOffset: 3}, exampleSamples(classes)
		whole.Add(s, 0)
		for cut := range s.Rows() + 1 {
			head := &Samples{SpecHash: s.SpecHash, Partition: s.Partition, Dim: s.Dim}
			parts := SampleMark{FirstOffset: 3}
			for i := range s.Rows() {
				if i == cut {
					parts.Add(head, 0)
					head.Reset()
				}
				head.Append(s, i)
			}
			if parts.Add(head, 0); parts != whole {
				t.Errorf("cut at %d: %+v, want %+v", cut, parts, whole)
			}
		}
		for name, damage := range map[string]func(*Samples){
			"ordinal": func(s *Samples) { s.Ordinal[1]++ },
			"x":       func(s *Samples) { s.X[5] = -s.X[5] },
			"y": func(s *Samples) {
				if classes {
					s.Targets.Class[2] = 0
				} else {
					s.Targets.Values[3] = 1
				}
			},
			"row": func(s *Samples) { s.Ordinal, s.X = s.Ordinal[:2], s.X[:4] },
		} {
			other, mark := exampleSamples(classes), SampleMark{FirstOffset: 3}
			damage(other)
			if mark.Add(other, 0); mark == whole {
				t.Errorf("damaged %s: the mark is the same", name)
			}
		}
	}
}

func TestCheckpointKeysNamePipelineAndSequence(t *testing.T) {
	for key, want := range map[string]string{
		"income.7.abcdef": "income 7 true", "income": " 0 false", "income.x.y": "income 0 false", ".7.a": " 0 false",
	} {
		pipeline, sequence, ok := ParseCheckpointKey([]byte(key))
		if got := fmt.Sprint(pipeline, " ", sequence, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestWeightsOfOneAreDropped(t *testing.T) {
	f := exampleFeatureSet()
	f.Set.Weight = []float32{1, 1, 1, 1}
	if f.ID() != exampleFeatureSet().ID() {
		t.Error("explicit weights of one change the id")
	}
	if !bytes.Equal(must(EncodeFeatureSet(f)), must(EncodeFeatureSet(exampleFeatureSet()))) {
		t.Error("explicit weights of one change the bytes")
	}
}

func TestFeatureSetIDCoversOnlyTheMathematics(t *testing.T) {
	base := exampleFeatureSet().ID()
	same := map[string]func(*FeatureSet){
		"lineage":    func(f *FeatureSet) { f.Lineage = Lineage{} },
		"candidates": func(f *FeatureSet) { f.Candidates.Seed = 1 },
		"index":      func(f *FeatureSet) { f.Set.Index[0] = 14 },
	}
	for name, change := range same {
		f := exampleFeatureSet()
		if change(f); f.ID() != base {
			t.Errorf("%s changes the id", name)
		}
	}
	differs := map[string]func(*FeatureSet){
		"encoder": func(f *FeatureSet) { f.Encoder.Columns[0].Mean[0]++ },
		"omega":   func(f *FeatureSet) { f.Set.Features.Omega[0]++ },
		"phase":   func(f *FeatureSet) { f.Set.Features.Phase[0] = 0 },
		"weight":  func(f *FeatureSet) { f.Set.Weight = []float32{1, 1, 1, 2} },
		"scale":   func(f *FeatureSet) { f.Set.Scale *= 2 },
		"score":   func(f *FeatureSet) { f.Set.Score[0] *= 2 },
		"s":       func(f *FeatureSet) { f.Set.S[0] *= 2 },
		"map": func(f *FeatureSet) {
			f.Candidates.Map, f.Set.Features.Map, f.Set.Features.Phase = scoring.MapArcCosine0, scoring.MapArcCosine0, nil
		},
	}
	for name, change := range differs {
		f := exampleFeatureSet()
		if change(f); f.ID() == base {
			t.Errorf("%s does not change the id", name)
		}
	}
}

func TestFeatureSetIDCoversKinds(t *testing.T) {
	base := mixedFeatureSet().ID()
	for name, change := range map[string]func(f *scoring.Features){
		"kind":       func(f *scoring.Features) { f.Ramps = 2 },
		"form":       func(f *scoring.Features) { f.Products[1].Box = true },
		"order":      func(f *scoring.Features) { f.Products[3].Order, f.Products[0].Order = 2, 2 },
		"coordinate": func(f *scoring.Features) { f.Products[0].Coordinate[0] = 3 },
		"sign":       func(f *scoring.Features) { f.Products[0].Sign[0] = -1 },
		"threshold":  func(f *scoring.Features) { f.Products[0].Threshold[0]++ },
	} {
		f := mixedFeatureSet()
		if name == "order" {
			product := &f.Set.Features.Products[3]
			product.Coordinate[2] = 0
			product.Sign[2] = 0
			product.Threshold[2] = 0
			f.Set.Features.Products[0].Coordinate[1], f.Set.Features.Products[0].Sign[1] = 0, 1
		}
		if change(f.Set.Features); f.ID() == base {
			t.Errorf("%s does not change the id", name)
		}
	}
}

func diff(t *testing.T, want, got any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the round trip changed\n%+v to\n%+v", want, got)
	}
}

package featurize

import (
	"math"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// foldTolerance allows for phases of up to 16 turns at the bandwidth of wide events: shifting and scaling after the
// product instead of before it rounds differently.
const foldTolerance = 2e-5

func TestWhatFoldsFollowsFromEncoderAndMap(t *testing.T) {
	for _, c := range []struct {
		shape string
		clip  float64
		m     scoring.Map
		folds bool
	}{
		{"list", 0, scoring.MapCosine, true},
		{"columns", 0, scoring.MapArcCosine1, true},
		{"list", 5, scoring.MapCosine, false},
		{"list", 0, scoring.MapLinear, false},
	} {
		e, exploration := explored.Wide(c.shape, 16)
		e.Clip = c.clip
		spec := explored.Spec(t, e, exploration, stagestest.WideEvents(t, c.shape, 200))
		if rows := events.NewRowEncoder(spec.Encoder, c.m); (rows.Affine != nil) != c.folds {
			t.Errorf("%+v: affine %v", c, rows.Affine)
		}
	}
}

// A folded set gives the features of the encoded rows.
func TestFoldingChangesRoundingAlone(t *testing.T) {
	for _, shape := range stagestest.WideShapes {
		t.Run(shape, func(t *testing.T) {
			e, exploration := explored.Wide(shape, 10)
			e.Clip, exploration.Candidates = 0, 40
			rows := stagestest.WideEvents(t, shape, 300)
			set := explored.FeatureSet(t, e, exploration, rows)
			var encoded encoder.Rows
			if err := set.Encoder.Encode(&encoded, rows, nil); err != nil {
				t.Fatal(err)
			}
			want := make([]float32, encoded.N*10)
			scoring.NewTransformer(&set.Set, nil).Transform(want, encoded.X, encoded.N)
			transform, to := events.NewTransformer(set)
			var raw encoder.Rows
			if err := to.Encode(&raw, rows, nil); err != nil {
				t.Fatal(err)
			}
			got := make([]float32, raw.N*10)
			transform.Transform(got, raw.X, raw.N)
			if to.Affine == nil || !near(got, want, foldTolerance) {
				t.Errorf("affine %v, features differ", to.Affine)
			}
		})
	}
}

func near(got, want []float32, tolerance float64) bool {
	for i := range got {
		if !(math.Abs(float64(got[i])-float64(want[i])) <= tolerance) {
			return false
		}
	}
	return len(got) == len(want)
}

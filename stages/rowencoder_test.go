package stages

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// foldTolerance is for phases of up to 16 turns at the bandwidth of benchSettings: shifting and scaling after the product
// instead of before it rounds differently.
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
		s := benchSettings(c.shape)
		s.Events.Clip = c.clip
		spec := plan(t, s, benchEvents(t, c.shape, 200), fullSpan(0))
		if rows := newRowEncoder(spec.Encoder, c.m); (rows.affine != nil) != c.folds {
			t.Errorf("%+v: affine %v", c, rows.affine)
		}
	}
}

// A folded set gives the features, and a folded bank the sums, of the encoded rows.
func TestFoldingChangesRoundingAlone(t *testing.T) {
	for _, shape := range benchShapes {
		t.Run(shape, func(t *testing.T) {
			s := benchSettings(shape)
			s.Events.Clip, s.Exploration.Candidates, s.Exploration.Features = 0, 40, 10
			rows := benchEvents(t, shape, 300)
			set := explore(t, s, []arrow.Record{rows}).Set
			var encoded encoder.Rows
			if err := set.Encoder.Encode(&encoded, rows, nil); err != nil {
				t.Fatal(err)
			}
			want := make([]float32, encoded.N*10)
			scoring.NewTransformer(&set.Set, nil).Transform(want, encoded.X, encoded.N)
			transform, to := newTransformer(set)
			var raw encoder.Rows
			if err := to.encode(&raw, rows, nil); err != nil {
				t.Fatal(err)
			}
			got := make([]float32, raw.N*10)
			transform.Transform(got, raw.X, raw.N)
			if to.affine == nil || !near32(got, want, foldTolerance) {
				t.Errorf("affine %v, features differ", to.affine)
			}

			spec := plan(t, s, rows, fullSpan(0))
			core := newSubsampler(t, spec, spec.Partitions[0], nil)
			if _, err := core.Add(0, []arrow.Record{rows}); err != nil {
				t.Fatal(err)
			}
			plain := scoring.NewAccumulator(scoring.NewBank(spec.Candidates, scoring.BankOptions{}), scoring.NewSums(40, 1))
			plain.Add(encoded.X, encoded.N, encoded.Targets)
			folded, sums := core.Checkpoint(noon).Sums, plain.Sums()
			for i := range sums.Phi {
				if math.Abs(folded.Phi[i]-sums.Phi[i]) > 300*foldTolerance || math.Abs(folded.YPhi[i]-sums.YPhi[i]) > 3*300*foldTolerance {
					t.Errorf("candidate %d: %v and %v, want %v and %v", i, folded.Phi[i], folded.YPhi[i], sums.Phi[i], sums.YPhi[i])
				}
			}
		})
	}
}

func near32(got, want []float32, tolerance float64) bool {
	for i := range got {
		if math.Abs(float64(got[i])-float64(want[i])) > tolerance {
			return false
		}
	}
	return len(got) == len(want)
}

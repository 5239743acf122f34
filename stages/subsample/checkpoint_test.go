package subsample_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// Sums, marks and samples do not depend on how rows are cut into messages, or on the message at
// which another owner resumes from a checkpoint.
func TestSubsamplerGivesEqualBitsAfterRestartsAtAnyMessage(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			rows := eventsOf(t, task, 250, 2, stagestest.SomeFaults)
			spec := plan(t, task, rows, func(c *calibrate.Config) { c.Candidates = 12 }, fullSpan(50))
			bank := scoring.NewBank(spec.Candidates)
			whole := start(t, spec, nil)
			whole.Begin(0, 7)
			feed(t, whole, []arrow.Record{rows}, rand.New(rand.NewPCG(1, 1)))
			rapid.Check(t, func(rt *rapid.T) {
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				most := rapid.IntRange(1, 200).Draw(rt, "most rows in a message")
				restart := rapid.Float64Range(0, 1).Draw(rt, "probability of a restart")
				messages := stagestest.Cut(t, rows, stagestest.UpTo(rng, most))
				at := start(t, spec, nil)
				at.Begin(0, 7)
				sent := &wire.Samples{Dim: spec.Encoder.Dim}
				send := func() {
					for i := range at.Samples().Rows() {
						sent.Append(at.Samples(), i)
					}
					at.ClearSamples()
				}
				for offset, rows := range messages {
					if err := at.Add(int64(offset), []arrow.Record{rows}, nil); err != nil {
						rt.Fatal(err)
					}
					if rng.Float64() < restart {
						send()
						next, err := subsample.New(spec, bank, spec.Partitions[0], saved(t, at))
						if err != nil {
							rt.Fatal(err)
						}
						if next.NextOffset() != at.NextOffset() {
							rt.Fatalf("next offset %d, want %d", next.NextOffset(), at.NextOffset())
						}
						at = next
						// The previous owner may not have committed yet, so that messages are
						// reread.
						if err := at.Add(int64(offset), []arrow.Record{rows}, nil); err != nil {
							rt.Fatal(err)
						}
					}
				}
				send()
				sameState(t, at, whole)
				want := whole.Samples()
				if !slices.Equal(sent.Ordinal, want.Ordinal) || !slices.Equal(sent.X, want.X) ||
					!slices.Equal(sent.Targets.Class, want.Targets.Class) || !slices.Equal(sent.Targets.Values, want.Targets.Values) {
					rt.Fatal("samples differ")
				}
				mark := wire.SampleMark{FirstOffset: 7}
				if mark.Add(sent, 0); mark != at.Checkpoint(stagestest.Noon).Samples {
					rt.Fatalf("mark of the samples %+v, checkpoint has %+v", mark, at.Checkpoint(stagestest.Noon).Samples)
				}
			})
		})
	}
}

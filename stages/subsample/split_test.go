package subsample_test

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// heldOut is the documented rule: a hash of the row's identity is divisible by 5.
func heldOut(seed, identity uint64) bool {
	b := []byte("a fifth")
	b = binary.LittleEndian.AppendUint64(b, seed)
	b = binary.LittleEndian.AppendUint64(b, identity)
	return xxhash.Sum64(b)%5 == 0
}

// Held-out rows are sampled and counted as scored, but excluded from the sums, however the rows are
// split into messages and wherever work continues from a checkpoint.
func TestHeldOutRowsAreSamplesAndNotInTheSums(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			rows := eventsOf(t, task, 900, 17, stagestest.SomeFaults)
			spec := plan(
				t,
				task,
				rows,
				func(c *calibrate.Config) { c.Criterion, c.SampleRate = scoring.Adaptive, 0.6 },
				fullSpan(0),
			)
			rng := rand.New(rand.NewPCG(2, 3))
			whole := start(t, spec, nil)
			feed(t, whole, stagestest.Cut(t, rows, stagestest.UpTo(rng, 80)), rng)
			c := whole.Checkpoint(stagestest.Noon)
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			samples := whole.Samples()
			sums := scoring.NewAccumulator(
				scoring.NewBank(spec.Candidates),
				scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs()),
			)
			held := int64(0)
			for i := range samples.Ordinal {
				if heldOut(spec.SampleSeed, samples.Identity[i]) {
					held++
					continue
				}
				one := samples.Slice(i, i+1)
				sums.Add(one.X, 1, one.Targets)
			}
			if c.Counts.HeldOut != held || held < 50 || int64(samples.Rows()) != c.Counts.Scored || !c.Counts.Reconciles() ||
				c.Counts.Rejected == 0 {
				t.Errorf("%d rows held out, %d samples, counts %+v", held, samples.Rows(), c.Counts)
			}
			if !reflect.DeepEqual(c.Sums, sums.Sums()) {
				t.Errorf("sums of %d rows differ from the sums of the %d rows that are not held out", c.Sums.Rows, sums.Sums().Rows)
			}
			halves := stagestest.Cut(t, rows, stagestest.Every(450))
			first := start(t, spec, nil)
			if err := first.Add(0, halves[:1], nil); err != nil {
				t.Fatal(err)
			}
			second := start(t, spec, first.Checkpoint(stagestest.Noon))
			if err := second.Add(1, halves[1:], nil); err != nil {
				t.Fatal(err)
			}
			if again := second.Checkpoint(stagestest.Noon); !reflect.DeepEqual(again.Sums, c.Sums) ||
				again.Counts.HeldOut != held ||
				again.Samples != c.Samples {
				t.Errorf("continued: %+v, want %+v", again.Counts, c.Counts)
			}
		})
	}
}

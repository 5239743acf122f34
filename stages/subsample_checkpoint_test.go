package stages

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// saved is a checkpoint after its way over the wire.
func saved(t testing.TB, s *Subsampler) *wire.Checkpoint {
	t.Helper()
	value, err := wire.EncodeCheckpoint(s.Checkpoint(noon))
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), value)
	if err != nil {
		t.Fatal(err)
	}
	return checkpoint
}

func TestSubsamplerGivesEqualBitsAfterRestartsAtAnyMessage(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			s := testSettings(task)
			s.Exploration.Candidates = 12
			rows := events(t, task, 250, 2, someFaults)
			spec := plan(t, s, rows, fullSpan(50))
			bank := NewBank(spec, 0, 1)
			whole := newSubsampler(t, spec, spec.Partitions[0], nil)
			feed(t, whole, []arrow.Record{rows}, rand.New(rand.NewPCG(1, 1)))
			rapid.Check(t, func(rt *rapid.T) {
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				most := rapid.IntRange(1, 200).Draw(rt, "most rows in a message")
				restart := rapid.Float64Range(0, 1).Draw(rt, "probability of a restart")
				messages := cut(t, rows, upToRows(rng, most))
				at := newSubsampler(t, spec, spec.Partitions[0], nil)
				for offset, rows := range messages {
					if _, err := at.Add(int64(offset), []arrow.Record{rows}); err != nil {
						rt.Fatal(err)
					}
					if rng.Float64() < restart {
						next, err := NewSubsampler(spec, bank, spec.Partitions[0], saved(t, at))
						if err != nil {
							rt.Fatal(err)
						}
						if next.NextOffset() != at.NextOffset() {
							rt.Fatalf("next offset %d, want %d", next.NextOffset(), at.NextOffset())
						}
						at = next
						// The owner before may not have got around to committing: what was read comes again.
						if _, err := at.Add(int64(offset), []arrow.Record{rows}); err != nil {
							rt.Fatal(err)
						}
					}
				}
				sameState(t, at, whole)
			})
		})
	}
}

func TestSubsamplerRefusesForeignCheckpoints(t *testing.T) {
	rows := events(t, taskRegression, 200, 9, faults{})
	spec := plan(t, testSettings(taskRegression), rows, fullSpan(0))
	mine := newSubsampler(t, spec, spec.Partitions[0], nil)
	if _, err := mine.Add(0, []arrow.Record{rows}); err != nil {
		t.Fatal(err)
	}
	bank := NewBank(spec, 0, 1)
	for name, c := range map[string]struct {
		change func(*wire.Checkpoint)
		want   error
	}{
		"another exploration": {func(c *wire.Checkpoint) { c.Exploration = "test.7.abc" }, wire.ErrSpecMismatch},
		"another spec":        {func(c *wire.Checkpoint) { c.SpecHash = "abc" }, wire.ErrSpecMismatch},
		"another kernel":      {func(c *wire.Checkpoint) { c.Kernel = "abacus" }, wire.ErrKernelMismatch},
		"another partition":   {func(c *wire.Checkpoint) { c.Partition = 4 }, wire.ErrSpecMismatch},
	} {
		checkpoint := saved(t, mine)
		c.change(checkpoint)
		if _, err := NewSubsampler(spec, bank, spec.Partitions[0], checkpoint); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// A checkpoint is a copy: rows added later are not in it.
func TestSubsamplerCheckpointStandsStill(t *testing.T) {
	rows := events(t, taskRegression, 200, 10, faults{})
	spec := plan(t, testSettings(taskRegression), rows, fullSpan(0))
	s := newSubsampler(t, spec, spec.Partitions[0], nil)
	batches := cut(t, rows, every(100))
	addFrom(t, s, batches, 0, 1)
	checkpoint := s.Checkpoint(noon)
	before := slices.Clone(checkpoint.Sums.YPhi)
	addFrom(t, s, batches, 1, 2)
	if !slices.Equal(checkpoint.Sums.YPhi, before) || checkpoint.NextOrdinal != 100 {
		t.Fatal("a checkpoint moved with its subsampler")
	}
}

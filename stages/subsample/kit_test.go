package subsample_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// outputs is a regression task with two outputs.
const outputs = "outputs"

var tasks = append([]string{outputs}, stagestest.Tasks...)

// eventsOf generates events of a task.
func eventsOf(t testing.TB, task string, rows int, seed uint64, f stagestest.Faults) arrow.Record {
	if task == outputs {
		task = stagestest.Regression
	}
	return stagestest.Events(t, task, rows, seed, f)
}

// settings returns a configuration whose criterion needs rows.
func settings(task string) (events.Config, calibrate.Config) {
	e, c := explored.Events(task), explored.Exploration()
	if task == outputs {
		e.Label = []string{"y", "b"}
	}
	c.Criterion = scoring.Residual
	return e, c
}

// plan plans an exploration of the given partitions on the rows; edit, if not nil, changes the
// configuration.
func plan(
	t testing.TB,
	task string,
	rows arrow.Record,
	edit func(*calibrate.Config),
	partitions ...wire.Partition,
) *wire.Spec {
	t.Helper()
	e, c := settings(task)
	if edit != nil {
		edit(&c)
	}
	spec := explored.Spec(t, e, c, rows)
	spec.Partitions = partitions
	spec.Exploration = wire.ExplorationID(&spec.Plan)
	if err := spec.Validate(); err != nil {
		t.Fatal(err)
	}
	return spec
}

// farOff is an end offset that no test reaches.
const farOff = 1 << 40

// fullSpan covers all of partition 0.
func fullSpan(quota int64) wire.Partition { return wire.Partition{EndOffset: farOff, Quota: quota} }

// start starts the first partition of a spec.
func start(t testing.TB, spec *wire.Spec, from *wire.Checkpoint) *subsample.Subsampler {
	t.Helper()
	s, err := subsample.New(spec, scoring.NewBank(spec.Candidates), spec.Partitions[0], from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// feed encodes and decodes messages, passes them to a subsampler from offset 0 on, and returns the
// indexes of the rejected rows among all rows.
func feed(t testing.TB, s *subsample.Subsampler, messages []arrow.Record, rng *rand.Rand) (rejectedRows []int64) {
	t.Helper()
	reader := events.NewReader(events.DefaultLimits().Decoder(), nil)
	first := int64(0)
	for offset, rows := range messages {
		batches, err := reader.Read(
			stagestest.Message(t, stagestest.Cut(t, rows, stagestest.UpTo(rng, 2*int(rows.NumRows())))...),
		)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Add(int64(offset), batches, func(_ arrow.Record, rowBase int32, rows []deadletter.RejectedRow) error {
			for _, r := range rows {
				rejectedRows = append(rejectedRows, first+int64(rowBase+r.Row))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		events.Release(batches)
		first += rows.NumRows()
	}
	return rejectedRows
}

// sameState fails unless two subsamplers hold equal bits, even if their messages differ.
func sameState(t testing.TB, got, want *subsample.Subsampler) {
	t.Helper()
	sameCheckpoint(t, got.Checkpoint(stagestest.Noon), want.Checkpoint(stagestest.Noon))
}

// sameCheckpoint fails unless two checkpoints are equal, ignoring fields that depend on the
// messages.
func sameCheckpoint(t testing.TB, got, want *wire.Checkpoint) {
	t.Helper()
	if got.NextOrdinal != want.NextOrdinal || got.CloseReason != want.CloseReason {
		t.Fatalf(
			"next ordinal %d, closed by %q; want %d, %q",
			got.NextOrdinal,
			got.CloseReason,
			want.NextOrdinal,
			want.CloseReason,
		)
	}
	a, b := got.Counts, want.Counts
	a.Messages, b.Messages, a.Undecodable, b.Undecodable = 0, 0, 0, 0
	if a != b {
		t.Fatalf("counts %+v, want %+v", a, b)
	}
	if got.Samples.Rows != want.Samples.Rows || got.Samples.Checksum != want.Samples.Checksum {
		t.Fatalf("samples %+v, want %+v", got.Samples, want.Samples)
	}
	sameSums(t, got.Sums, want.Sums)
}

func sameSums(t testing.TB, a, b *scoring.Sums) {
	t.Helper()
	if a.Rows != b.Rows {
		t.Fatalf("sums of %d rows, want %d", a.Rows, b.Rows)
	}
	for _, pair := range [][2][]float64{{a.Phi, b.Phi}, {a.PhiSq, b.PhiSq}, {a.YPhi, b.YPhi}, {a.Y, b.Y}, {a.YSq, b.YSq},
		{a.YMin, b.YMin}, {a.YMax, b.YMax}} {
		if !slices.EqualFunc(
			pair[0],
			pair[1],
			func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) },
		) {
			t.Fatal("sums differ in their bits")
		}
	}
}

// overTheWire encodes and decodes a checkpoint.
func overTheWire(t testing.TB, c *wire.Checkpoint) *wire.Checkpoint {
	t.Helper()
	value, err := wire.EncodeCheckpoint(c)
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), value)
	if err != nil {
		t.Fatal(err)
	}
	return checkpoint
}

func saved(t testing.TB, s *subsample.Subsampler) *wire.Checkpoint {
	t.Helper()
	return overTheWire(t, s.Checkpoint(stagestest.Noon))
}

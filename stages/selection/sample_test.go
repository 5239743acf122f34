package selection

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// TestMessagesWithFewNewRowsAreNotHeld adds messages with one new row each, last ordinals first.
func TestMessagesWithFewNewRowsAreNotHeld(t *testing.T) {
	const messages, rowsEach, dim = 100, 1000, 50 // 200 kB each
	found := &ordinals{next: messages, most: messages, seen: map[int64]bool{}, rows: &wire.Samples{Dim: dim}}
	before := liveHeap()
	for i := range messages {
		m := &wire.Samples{
			Dim:     dim,
			Ordinal: make([]int64, rowsEach),
			X:       make([]float32, rowsEach*dim),
			Targets: scoring.Targets{Outputs: 1, Values: make([]float32, rowsEach)},
		}
		for row := range m.Ordinal {
			m.Ordinal[row] = int64(messages - 1 - i + messages*row) // the other rows are past the wanted ordinals
		}
		if enough := found.add(m); enough != (i == messages-1) {
			t.Fatalf("enough %v after %d messages", enough, i+1)
		}
	}
	if held := liveHeap() - before; held > 1<<20 {
		t.Errorf("%d bytes held for %d rows of %d values", held, messages, dim)
	}
	if rows := found.sorted(); rows.Rows() != messages || !slices.IsSorted(rows.Ordinal) {
		t.Errorf("rows %v", rows.Ordinal)
	}
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestACheckpointOfMoreThanItsQuotaIsRefused checks that it is refused before any samples are read.
func TestACheckpointOfMoreThanItsQuotaIsRefused(t *testing.T) {
	spec := &wire.Spec{Plan: wire.Plan{
		Encoder: &encoder.Encoder{
			Label: &encoder.Label{Task: scoring.Regression},
		}, Partitions: []wire.Partition{{Partition: 3, Quota: 100}},
	}}
	c := &wire.Checkpoint{Partition: spec.Partitions[0].Partition, Samples: wire.SampleMark{Rows: 101}}
	_, err := new(sampleReader).read(t.Context(), spec, map[int32]*wire.Checkpoint{c.Partition: c})
	if d := new(disagreement); !errors.As(err, &d) || d.partition != c.Partition {
		t.Error(err)
	}
}

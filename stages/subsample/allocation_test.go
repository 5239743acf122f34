package subsample_test

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

func TestSubsamplerAllocatesNothingThatGrowsWithRows(t *testing.T) {
	stagestest.EachWide(t, func(t *testing.T, shape string, rows arrow.Record) {
		e, exploration := explored.Wide(16)
		exploration.CalibrationRows = 100
		spec := explored.Spec(t, e, exploration, rows)
		spec.Partitions[0].EndOffset, spec.Partitions[0].Quota = 1<<40, 0
		core, err := subsample.New(spec, scoring.NewBank(spec.Candidates), spec.Partitions[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		reader := events.NewReader(spec.Limits, spec.Encoder)
		value := append([]byte("odd"), stagestest.Message(t, rows)...)[3:] // unaligned, as records are in fetched memory
		offset := int64(0)
		stagestest.CheckAllocations(t, shape, 0, func() {
			batches, err := reader.Read(value)
			if err != nil {
				t.Fatal(err)
			}
			defer events.Release(batches)
			if err := core.Add(offset, batches, nil); err != nil {
				t.Fatal(err)
			}
			offset++
		})
		if c := core.Counts(); c.Scored == 0 || c.Scored != offset*rows.NumRows() {
			t.Errorf("%d messages, counts %+v", offset, c)
		}
	})
}

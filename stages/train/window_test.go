package train

import (
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// firstOffsets returns the first offsets of the ranges of a model.
func firstOffsets(m *wire.Model) []int64 {
	var first []int64
	for _, r := range m.Ranges {
		first = append(first, r.FirstOffset)
	}
	return first
}

// The window covers the newest rows, with a share for each partition, and moves when twice its rows
// were read.
func TestWindowOfRows(t *testing.T) {
	k := newFlow(t, 2)
	k.config.Window = 1200
	k.sendFeatures(0, 0, 6000, 20) // 300 messages
	k.sendFeatures(1, 0, 2000, 20) // 100 messages
	r := k.runner(k.Broker)
	first := k.fit(r)
	if got := firstOffsets(first.Model); !slices.Equal(got, []int64{6000 - 900, 2000 - 300}) ||
		rangeRows(first.Model) != 1200 {
		t.Fatalf("the window begins at %v and has %d rows", got, rangeRows(first.Model))
	}
	if first.Window != "1200" {
		t.Errorf("the model says window %q", first.Window)
	}
	k.sendFeatures(0, 6000, 7200, 20) // twice the window, so the start stays
	if got := k.fit(r); rangeRows(got.Model) != 2400 || firstOffsets(got.Model)[0] != 5100 {
		t.Errorf("%d rows from %v on", rangeRows(got.Model), firstOffsets(got.Model))
	}
	k.sendFeatures(0, 7200, 7220, 20)
	if got := k.fit(r); rangeRows(got.Model) != 2420 { // the next fit sees it
		t.Errorf("%d rows", rangeRows(got.Model))
	}
	k.sendFeatures(0, 7220, 7240, 20)
	moved := k.fit(r)
	if rows := rangeRows(moved.Model); rows < 1200 || rows > 1240 || firstOffsets(moved.Model)[0] <= 5100 {
		t.Errorf("moved to %d rows from %v on", rows, firstOffsets(moved.Model))
	}
	if again := k.fit(k.runner(k.Broker)); again.ID != moved.ID {
		t.Errorf("a new trainer finds %s, %d rows from %v on", again.ID, rangeRows(again.Model), firstOffsets(again.Model))
	}
}

// Rows of other sets do not count. A window larger than the number of rows begins with the first.
func TestWindowOfRowsAmongOtherSets(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Window = 1000
	k.sendFeatures(0, 0, 2000, 10)
	k.use(2, 2)
	k.sendFeatures(0, 2000, 2600, 10)
	if got := k.fit(k.runner(k.Broker)); rangeRows(got.Model) != 600 || firstOffsets(got.Model)[0] != 2000 {
		t.Errorf("%d rows from %v on", rangeRows(got.Model), firstOffsets(got.Model))
	}
}

// Memory does not grow with partitions: beyond the number of lanes they share sums.
func TestManyPartitionsShareLanes(t *testing.T) {
	const partitions = 3*Lanes + 1
	k := newFlow(t, partitions)
	for number := range partitions {
		k.sendFeatures(number, int64(number)*40, int64(number+1)*40, 20)
	}
	r := k.runner(k.Broker)
	first := k.fit(r)
	if got := len(r.trainer.lanes); got != Lanes {
		t.Fatalf("%d lanes", got)
	}
	if len(first.Ranges) != partitions || first.TrainRows != 40*partitions {
		t.Errorf("%d ranges, %d rows", len(first.Ranges), first.TrainRows)
	}
	if again := k.fit(k.runner(k.Broker)); again.ID != first.ID {
		t.Errorf("a second trainer finds %s, not %s", again.ID, first.ID)
	}
	// The whole lane is reread if one of its partitions was truncated.
	k.LoseEnd(k.topics.Features, Lanes, 0)
	k.sendFeatures(Lanes, 0, 60, 60)
	after := k.fit(r)
	if after.TrainRows != 40*partitions+20 {
		t.Errorf("%d rows after one partition was truncated", after.TrainRows)
	}
	if again := k.fit(k.runner(k.Broker)); again.ID != after.ID {
		t.Errorf("a trainer that starts now finds %s, not %s", again.ID, after.ID)
	}
}

package train

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestWindowText(t *testing.T) {
	for text, want := range map[string]Window{"all": {}, "": {}, "1000000": {Rows: 1_000_000}, "720h": {Time: 720 * time.Hour}, "90s": {Time: 90 * time.Second}} {
		var got Window
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
		var again Window
		if written, _ := got.MarshalText(); again.UnmarshalText(written) != nil || again != want {
			t.Errorf("%q is written %s", text, written)
		}
	}
	for _, text := range []string{"0", "-1", "0s", "-1h", "a month", "1.5", "99999999999999999999"} {
		if err := new(Window).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// firstOffsets are the events at which the ranges of a model begin.
func firstOffsets(m *wire.Model) []int64 {
	var first []int64
	for _, r := range m.Ranges {
		first = append(first, r.FirstOffset)
	}
	return first
}

// A window of rows begins where the newest rows begin, with a share for each partition, and moves once as much again was read.
func TestWindowOfRows(t *testing.T) {
	k := newFlow(t, 2)
	k.config.Window = Window{Rows: 1200}
	k.sendFeatures(0, 0, 6000, 20) // 300 messages
	k.sendFeatures(1, 0, 2000, 20) // 100 messages
	r := k.runner(k.Broker)
	first := k.fit(r)
	if got := firstOffsets(first.Model); !slices.Equal(got, []int64{6000 - 900, 2000 - 300}) || rangeRows(first.Model) != 1200 {
		t.Fatalf("the window begins at %v and has %d rows", got, rangeRows(first.Model))
	}
	if first.Window != "1200" {
		t.Errorf("the model says window %q", first.Window)
	}
	k.sendFeatures(0, 6000, 7200, 20) // as many again: the start stays
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

// Rows of other sets do not count, wherever they are; with fewer rows than the window holds it begins with the first.
func TestWindowOfRowsAmongOtherSets(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Window = Window{Rows: 1000}
	k.sendFeatures(0, 0, 2000, 10)
	k.use(2, 2)
	k.sendFeatures(0, 2000, 2600, 10)
	if got := k.fit(k.runner(k.Broker)); rangeRows(got.Model) != 600 || firstOffsets(got.Model)[0] != 2000 {
		t.Errorf("%d rows from %v on", rangeRows(got.Model), firstOffsets(got.Model))
	}
}

// A window of time begins with what was written at its start, and moves with time.
func TestWindowOfTime(t *testing.T) {
	k := newFlow(t, 2)
	k.config.Window = Window{Time: 10 * time.Hour}
	now := stagestest.Noon
	at := func(partition int, hour int, first int64) {
		t.Helper()
		rows := k.rows(first, first+100)
		defer rows.Release()
		records := featuresOf(t, k.set, partition, first, stagestest.Cut(t, rows, stagestest.Every(100)), whole)
		for i := range records {
			records[i].Time = stagestest.Noon.Add(time.Duration(hour) * time.Hour)
		}
		k.produce(k.topics.Features, partition, records...)
	}
	for i := range 20 {
		at(0, i-20, int64(100*i))
		at(1, i-20, int64(100*i))
	}
	r := k.runner(k.Broker)
	r.Clock = func() time.Time { return now }
	if got := k.fit(r); !slices.Equal(firstOffsets(got.Model), []int64{1000, 1000}) || rangeRows(got.Model) != 2000 {
		t.Fatalf("%d rows from %v on", rangeRows(got.Model), firstOffsets(got.Model))
	}
	now = now.Add(2 * time.Hour)
	at(0, 2, 2000)
	if got := k.fit(r); rangeRows(got.Model) != 2100 {
		t.Errorf("%d rows within as long again", rangeRows(got.Model))
	}
	now = now.Add(9 * time.Hour)
	at(1, 11, 2000)
	if got := k.fit(r); !slices.Equal(firstOffsets(got.Model), []int64{2000, 2000}) || rangeRows(got.Model) != 200 {
		t.Errorf("moved to %d rows from %v on", rangeRows(got.Model), firstOffsets(got.Model))
	}
}

// Which rows are sampled depends only on the rows, not on their messages, nor on which are held out.
func TestSampleRate(t *testing.T) {
	const rows = 2000
	events := stagestest.Events(t, stagestest.Regression, rows, 70, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, stagestest.Events(t, stagestest.Regression, 400, 71, stagestest.Faults{}))
	config := trainConfig()
	all := solve(t, train(t, set, config, featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(rows)), whole)))
	config.SampleRate = 0.25
	var ids []string
	for _, split := range []int{1, 7, 500} {
		trainer := train(t, set, config, featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(rows)), split))
		got, counts := solve(t, trainer), trainer.Counts()
		if counts.Rows+counts.NotSampled != rows || math.Abs(float64(counts.Rows)/rows-0.25) > 0.04 || got.TrainRows != counts.Rows {
			t.Errorf("%+v, a model of %d rows", counts, got.TrainRows)
		}
		if held := float64(got.HeldOutRows) / float64(counts.Rows); math.Abs(held-config.HeldOutFraction) > 0.06 {
			t.Errorf("%v of the sampled rows are held out", held)
		}
		if got.SampleRate != 0.25 || all.SampleRate != 0 {
			t.Errorf("models say rates of %v and, of all rows, %v", got.SampleRate, all.SampleRate)
		}
		ids = append(ids, got.ID)
	}
	if ids[0] != ids[1] || ids[0] != ids[2] || ids[0] == all.ID {
		t.Errorf("models %v, of all rows %s", ids, all.ID)
	}
}

// Memory does not grow with partitions: beyond the number of lanes they share sums, and give the same model as the same rows
// alone, except for the order of summation.
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
	// The whole lane is read again if one of its partitions lost its end.
	k.LoseEnd(k.topics.Features, Lanes, 0)
	k.sendFeatures(Lanes, 0, 60, 60)
	after := k.fit(r)
	if after.TrainRows != 40*partitions+20 {
		t.Errorf("%d rows after one partition was made anew", after.TrainRows)
	}
	if again := k.fit(k.runner(k.Broker)); again.ID != after.ID {
		t.Errorf("a trainer that starts now finds %s, not %s", again.ID, after.ID)
	}
}

package stages_test

import (
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// labelled sends rows from first on to a partition; every other row has the class, the rest up or down.
func (f *flow) labelled(partition int, first int64, class string) {
	f.t.Helper()
	batch := rows(first, first+100, func(n int64, r *row) {
		switch {
		case class != "" && n%2 == 0:
			r.y = class
		case r.x[0] > 0:
			r.y = "up"
		default:
			r.y = "down"
		}
	})
	defer batch.Release()
	f.send(partition, batch, 20)
}

// classRequests lists the ids under which explorations for a class were ever requested.
func (f *flow) classRequests() (ids []string) {
	f.t.Helper()
	for _, record := range f.all(f.settings.Topics.Explorations, 0) {
		if _, id, ok := wire.ParseRequestKey(record.Key); ok && record.Value != nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// unseenOf adds up the classes that workers saw and no set knows.
func unseenOf(workers ...*worker) []encoder.ClassRows {
	var unseen encoder.ClassTally
	for _, w := range workers {
		for _, c := range w.Meter.Activity().UnseenClasses {
			unseen.Add(c.Class, c.Rows)
		}
	}
	return unseen.List()
}

// Two featurizers meet a class that no exploration knows: one request starts one exploration, which has the class.
// Another class arrives while no process plans; the request for it outlives every process.
func TestFlowANewClassStartsAnExploration(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, func(s *stages.Settings) {
		everyRow(s)
		s.Events.ClassMinRows = 40
	})
	planning := []string{meter.StageCalibrate, meter.StageSubsample, meter.StageSelect}
	for partition := range 2 {
		f.labelled(partition, int64(1000*partition), "")
	}
	planner := f.start(planning, nil)
	one, other := f.start([]string{meter.StageFeaturize}, nil), f.start([]string{meter.StageFeaturize}, nil)
	if got := f.set(1).Set.Encoder.Label.Classes; !slices.Equal(got, []string{"down", "up"}) {
		t.Fatalf("classes %v", got)
	}

	for partition := range 2 {
		f.labelled(partition, int64(1000*partition+100), "sideways")
	}
	second := f.set(2).Set
	if got := second.Encoder.Label.Classes; !slices.Equal(got, []string{"down", "sideways", "up"}) {
		t.Errorf("classes %v", got)
	}
	for partition := range 2 {
		f.featurizedUpTo(partition, 10)
	}
	for _, w := range []*worker{one, other} {
		f.until("the second set", func() bool { now := w.State.Snapshot(); return now.Current != nil && now.Current.Sequence == 2 })
	}
	for partition := range 2 { // rows are counted before the next message is written
		f.labelled(partition, int64(1000*partition+200), "")
		f.featurizedUpTo(partition, 15)
	}
	before := unseenOf(one, other)
	for partition := range 2 {
		f.labelled(partition, int64(1000*partition+300), "sideways") // a known class by now
		f.featurizedUpTo(partition, 20)
	}
	if after := unseenOf(one, other); len(before) != 1 || before[0].Rows < 40 || before[0].Rows > 100 || !slices.Equal(before, after) {
		t.Errorf("unseen classes %v, then %v, want up to 100 rows that came before the second set", before, after)
	}
	if asked := f.classRequests(); len(asked) != 1 || f.follower.Snapshot().Sequence() != 2 {
		t.Errorf("asked as %v, exploration %d", asked, f.follower.Snapshot().Sequence())
	}

	planner.stop()
	f.labelled(0, 5000, "late")
	f.state("a request", func(s state.Snapshot) bool { return len(s.Requests) == 1 && s.Requests[0].Class == "late" })
	one.kill()
	other.kill()
	third := f.start([]string{meter.StageFeaturize}, nil)
	f.labelled(0, 5100, "late")
	f.labelled(1, 6000, "late")
	f.featurizedUpTo(0, 30)
	f.featurizedUpTo(1, 25)
	f.until("rows counted by the new process", func() bool { return len(third.Meter.Activity().UnseenClasses) == 1 })
	if open := f.follower.Snapshot().Requests; len(open) != 1 {
		t.Errorf("requests %+v after the restart", open)
	}
	f.start(planning, nil)
	if got := f.set(3).Set.Encoder.Label.Classes; !slices.Contains(got, "late") {
		t.Errorf("classes %v", got)
	}
	if asked := f.classRequests(); len(asked) != 2 || f.follower.Snapshot().Sequence() != 3 {
		t.Errorf("asked as %v, exploration %d", asked, f.follower.Snapshot().Sequence())
	}
}

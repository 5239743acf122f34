package meter

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// recordsAt makes records from an offset on, one second apart, starting at a time.
func recordsAt(offset int64, from time.Time, n int) []pipeline.Record {
	records := make([]pipeline.Record, n)
	for i := range records {
		records[i] = pipeline.Record{Offset: offset + int64(i), Time: from.Add(time.Duration(i) * time.Second)}
	}
	return records
}

func TestLagIsTheAgeOfTheFirstRecordThatIsNotProcessed(t *testing.T) {
	m := New()
	p := m.Follow(StageFeaturize, "events", 3, 10)
	now := stagestest.Noon
	status := func() PartitionStatus {
		all := m.Partitions(now)
		if len(all) != 1 {
			t.Fatalf("%d partitions", len(all))
		}
		return all[0]
	}
	want := func(what string, messages int64, lag time.Duration) {
		t.Helper()
		if s := status(); s.LagMessages() != messages || s.Lag != lag {
			t.Errorf("%s: %d messages, %v; want %d, %v", what, s.LagMessages(), s.Lag, messages, lag)
		}
	}
	want("before the first answer", 0, 0)
	if s := status(); s.Stage != StageFeaturize || s.Partition != 3 || s.NextOffset != 10 || !s.FetchedAt.IsZero() {
		t.Errorf("%+v", s)
	}

	// Five of seven records, the oldest 100 s old; offsets below the next one belong to a batch
	// that has already been read.
	fetched := recordsAt(8, now.Add(-102*time.Second), 7)
	p.Fetched(pipeline.Fetched{Records: fetched, NextOffset: 15, End: 17}, now)
	want("waiting", 7, 100*time.Second)
	now = now.Add(time.Second)
	want("a second later", 7, 101*time.Second)
	p.Done(12)
	want("two processed", 5, 99*time.Second)
	p.Done(15)
	want("what follows is not known, but not older than the last one", 2, 97*time.Second)

	p.Fetched(pipeline.Fetched{Records: recordsAt(15, now.Add(-time.Minute), 2), NextOffset: 17, End: 17}, now)
	want("the rest waiting", 2, time.Minute)
	p.Done(17)
	want("caught up", 0, 0)
	now = now.Add(time.Hour)
	want("idle", 0, 0)

	// An open transaction: the end is beyond the readable records. The records after it arrived
	// after the log had been seen empty.
	p.Fetched(pipeline.Fetched{NextOffset: 17, End: 17}, now)
	now = now.Add(5 * time.Second)
	p.Fetched(pipeline.Fetched{NextOffset: 17, End: 20}, now)
	want("not readable yet", 3, 5*time.Second)

	p.Fetched(
		pipeline.Fetched{Records: []pipeline.Record{{Offset: 19, Time: now.Add(time.Minute)}}, NextOffset: 20, End: 20},
		now,
	)
	want("a clock that runs ahead", 3, 0)
	p.Done(20)
	p.Fetched(
		pipeline.Fetched{
			Records:    []pipeline.Record{{Offset: 20}, {Offset: 21, Time: time.UnixMilli(-1)}},
			NextOffset: 22,
			End:        22,
		},
		now,
	)
	want("no time", 2, 0)
	p.Leave()
	if all := m.Partitions(now); len(all) != 0 {
		t.Errorf("%d partitions after the last was left", len(all))
	}
}

func TestFollowingAPartitionAgainReplacesItsPosition(t *testing.T) {
	m := New()
	old := m.Follow(StageSubsample, "events", 0, 1)
	m.Follow(StageSubsample, "events", 0, 5)
	m.Follow(StageSubsample, "events", 1, 7)
	m.Follow(StageFeaturize, "events", 0, 9)
	old.Leave()
	var next []int64
	for _, p := range m.Partitions(stagestest.Noon) {
		next = append(next, p.NextOffset)
	}
	if len(next) != 3 || next[0] != 9 || next[1] != 5 || next[2] != 7 {
		t.Errorf("next offsets %v", next)
	}
	var none *Position // a core without counters
	none.Fetched(pipeline.Fetched{}, stagestest.Noon)
	none.Done(1)
	none.Count(1, 1)
	none.Saved(stagestest.Noon, 1)
}

package stages

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// recordsAt are records from an offset on, each a second after the other from a time on.
func recordsAt(offset int64, from time.Time, n int) []pipeline.Record {
	records := make([]pipeline.Record, n)
	for i := range records {
		records[i] = pipeline.Record{Offset: offset + int64(i), Time: from.Add(time.Duration(i) * time.Second)}
	}
	return records
}

func TestLagIsTheAgeOfTheFirstRecordThatIsNotProcessed(t *testing.T) {
	counters := NewCounters()
	p := counters.follow(StageFeaturize, 3, 10)
	now := noon
	status := func() PartitionStatus {
		all := counters.Partitions(now)
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

	// Five of seven records, the oldest 100 s old; offsets below the next one are of a batch that was read before.
	fetched := recordsAt(8, now.Add(-102*time.Second), 7)
	p.fetched(pipeline.Fetched{Records: fetched, NextOffset: 15, End: 17}, now)
	want("in hand", 7, 100*time.Second)
	now = now.Add(time.Second)
	want("a second later", 7, 101*time.Second)
	p.done(12)
	want("two processed", 5, 99*time.Second)
	p.done(15)
	want("what follows is not known, but not older than the last one", 2, 97*time.Second)

	p.fetched(pipeline.Fetched{Records: recordsAt(15, now.Add(-time.Minute), 2), NextOffset: 17, End: 17}, now)
	want("the rest in hand", 2, time.Minute)
	p.done(17)
	want("caught up", 0, 0)
	now = now.Add(time.Hour)
	want("idle", 0, 0)

	// A transaction that is open: the end is beyond what can be read. The records behind it came after the log was seen empty.
	p.fetched(pipeline.Fetched{NextOffset: 17, End: 17}, now)
	now = now.Add(5 * time.Second)
	p.fetched(pipeline.Fetched{NextOffset: 17, End: 20}, now)
	want("not readable yet", 3, 5*time.Second)

	p.fetched(pipeline.Fetched{Records: []pipeline.Record{{Offset: 19, Time: now.Add(time.Minute)}}, NextOffset: 20, End: 20}, now)
	want("a clock that runs ahead", 3, 0)
	p.done(20)
	p.fetched(pipeline.Fetched{Records: []pipeline.Record{{Offset: 20}, {Offset: 21, Time: time.UnixMilli(-1)}}, NextOffset: 22, End: 22}, now)
	want("no time", 2, 0)
	p.leave()
	if all := counters.Partitions(now); len(all) != 0 {
		t.Errorf("%d partitions after the last was left", len(all))
	}
}

func TestAPartitionThatIsFollowedAnewTakesThePlace(t *testing.T) {
	counters := NewCounters()
	old := counters.follow(StageSubsample, 0, 1)
	counters.follow(StageSubsample, 0, 5)
	counters.follow(StageSubsample, 1, 7)
	counters.follow(StageFeaturize, 0, 9)
	old.leave()
	var next []int64
	for _, p := range counters.Partitions(noon) {
		next = append(next, p.NextOffset)
	}
	if len(next) != 3 || next[0] != 5 || next[1] != 7 || next[2] != 9 {
		t.Errorf("next offsets %v", next)
	}
	var none *progress // a core without counters
	none.fetched(pipeline.Fetched{}, noon)
	none.done(1)
	none.count(1, 1)
	none.saved(noon, 1)
}

func TestTrafficAndLettersAddUp(t *testing.T) {
	counters := NewCounters()
	counters.addTraffic(StageTrain, Traffic{UsedBytes: 1, UndecodableBytes: 2, OtherSetBytes: 3})
	counters.addTraffic(StageTrain, Traffic{UsedBytes: 1, OutputMessages: 4, OutputBytes: 5})
	refused := refusedMessage(StageFeaturize, pipeline.Record{Topic: "events"}, errOutputTooLarge, noon)
	counters.addLetters([]pipeline.Record{refused, {Key: []byte("no letter")}, refused})
	a := counters.Activity()
	if want := (Traffic{2, 2, 3, 4, 5}); a.Traffic[StageTrain] != want {
		t.Errorf("%+v", a.Traffic)
	}
	if n := a.DeadLetters[LetterCause{StageFeaturize, reasonOutputTooLarge}]; n != 2 || len(a.DeadLetters) != 1 {
		t.Errorf("%v", a.DeadLetters)
	}
	if a.MissingRows != -1 || a.Model != nil {
		t.Errorf("%+v", a)
	}
}

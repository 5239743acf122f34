package stages_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// smallParts makes several output messages of a message of 30 rows.
func smallParts(s *stages.Settings) {
	s.Exploration.SampleRows = 200
	s.Featurize.MaxOutputBytes = 12 * (4*8 + 64)
}

// source is where an output row came from.
type source struct {
	partition int32
	offset    int64
	row       int32
}

// checkOnce checks that every row of a partition's messages is in the output once, in order, with the key of its
// message, and that each message was made by one set. It returns the sets in the order of their use.
func (f *flow) checkOnce(partition int, rowsPerMessage int32, messages int64) (sets []string) {
	f.t.Helper()
	events := f.all(f.settings.Topics.Events, partition)
	seen := map[source]int{}
	setOf := map[int64]string{}
	for _, out := range f.features(partition) {
		if out.SourceTopic != f.settings.Topics.Events || int(out.SourcePartition) != partition || out.SourceRows != rowsPerMessage {
			f.t.Errorf("partition %d: features message %d comes from %+v", partition, out.record.Offset, out.FeatureBatch)
		}
		if want := events[out.SourceOffset].Key; string(out.record.Key) != string(want) {
			f.t.Errorf("partition %d: key %q, the event's is %q", partition, out.record.Key, want)
		}
		for _, row := range out.rows {
			seen[source{out.SourcePartition, out.SourceOffset, row}]++
		}
		if was, ok := setOf[out.SourceOffset]; ok && was != out.FeatureSetID {
			f.t.Errorf("partition %d offset %d: parts of sets %s and %s", partition, out.SourceOffset, was, out.FeatureSetID)
		}
		setOf[out.SourceOffset] = out.FeatureSetID
		if len(sets) == 0 || sets[len(sets)-1] != out.FeatureSetID {
			sets = append(sets, out.FeatureSetID)
		}
	}
	for offset := range messages {
		for row := range rowsPerMessage {
			if n := seen[source{int32(partition), offset, row}]; n != 1 {
				f.t.Fatalf("partition %d offset %d row %d is in the output %d times", partition, offset, row, n)
			}
		}
	}
	if int64(len(seen)) != messages*int64(rowsPerMessage) {
		f.t.Errorf("partition %d: %d rows in the output, %d in %d messages", partition, len(seen), messages*int64(rowsPerMessage), messages)
	}
	return sets
}

// holdOutput stops a worker's fetches of events after so many messages of features.
func holdOutput(after int, reached chan<- struct{}) func(*worker) {
	return func(w *worker) {
		m := newMiddle(int64(after))
		m.prepare(w)
		topics := w.Settings.Topics
		w.log.produce = func(_ context.Context, topic string, _ int, records []pipeline.Record) error {
			if topic == topics.Features && m.seen.Load() < m.after && m.seen.Add(int64(len(records))) >= m.after {
				close(reached)
			}
			return nil
		}
	}
}

func TestFlowEveryRowIsFeaturizedOnce(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stopped", "killed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 2, smallParts)
			for p := range 2 {
				events := rows(int64(p)*10_000, int64(p)*10_000+1200, nil)
				f.send(p, events, 30)
				events.Release()
			}
			f.start(exploring, nil)
			f.set(1)
			reached := make(chan struct{})
			w := f.start([]string{stages.StageFeaturize}, func(w *worker) {
				holdOutput(20, reached)(w)
				if how == "killed" {
					w.Settings.Featurize.CommitInterval = time.Hour // its output is all that the next one has
				}
			})
			<-reached
			if how == "killed" {
				w.kill()
			} else {
				w.stop()
			}
			for p := range 2 {
				if _, next, err := f.client.Offsets(f.ctx, f.settings.Topics.Features, p); err != nil || next >= 40*3 {
					t.Fatalf("partition %d was not in the middle: %d outputs, %v", p, next, err)
				}
			}
			again := f.start([]string{stages.StageFeaturize}, nil)
			for p := range 2 {
				f.featurizedUpTo(p, 40)
				more := rows(int64(p)*10_000+1200, int64(p)*10_000+1500, nil)
				f.send(p, more, 30)
				more.Release()
				f.featurizedUpTo(p, 50)
			}
			again.stop()
			for p := range 2 {
				f.checkOnce(p, 30, 50)
				next, err := f.client.Committed(f.ctx, "eerf-flow-featurize", f.settings.Topics.Events, p)
				if err != nil || next != 50 {
					t.Errorf("committed %d, %v", next, err)
				}
			}
			counts := []*worker{w, again}
			if n := total(counts, func(c stages.Totals) int64 { return c.Featurize.Featurized }); how == "stopped" && n != 3000 {
				t.Errorf("%d rows counted", n)
			}
		})
	}
}

func TestFlowAnEmptiedOutputGoesOnFromTheCommittedOffset(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	events := rows(0, 1200, nil)
	defer events.Release()
	f.send(0, events, 30)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 40)
	w.stop()
	_, before, err := f.client.Offsets(f.ctx, f.settings.Topics.Features, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.deleteRecords(f.settings.Topics.Features, 0, before)
	f.send(0, events, 30)
	f.start(allButTrain, nil)
	f.featurizedUpTo(0, 80)
	if out := f.features(0); out[0].SourceOffset != 40 || out[0].FirstRow != 0 {
		t.Errorf("went on at offset %d row %d", out[0].SourceOffset, out[0].FirstRow)
	}
}

// outputs are the messages of features that a core makes of an event from a row on.
func outputs(t *testing.T, core *stages.Featurizer, source pipeline.Record, firstRow int32) []pipeline.Record {
	t.Helper()
	var records []pipeline.Record
	err := core.Process(source, firstRow, time.Now(), func(part stages.Featurized) error {
		if part.Output != nil {
			records = append(records, *part.Output)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestFlowAMessagePartlyOutIsFinishedWithItsSet(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	events := rows(0, 1230, nil)
	defer events.Release()
	head := events.NewSlice(0, 1200)
	defer head.Release()
	f.send(0, head, 30)
	w := f.start(allButTrain, nil)
	first := f.set(1)
	f.featurizedUpTo(0, 40)
	w.stop()

	// The next message is out but for its last part.
	f.produce(f.settings.Topics.Events, 0, message(t, events, 1200, 1230))
	source := f.all(f.settings.Topics.Events, 0)[40]
	core := stages.NewFeaturizer(first.Set, arrowio.DefaultLimits(), f.settings.Featurize.MaxOutputBytes)
	parts := outputs(t, core, source, 0)
	if len(parts) < 3 {
		t.Fatalf("%d parts", len(parts))
	}
	f.produce(f.settings.Topics.Features, 0, parts[:len(parts)-1]...)

	// Another set is in use by the time that somebody goes on.
	f.settings.Exploration.Seed = 99
	f.start(exploring, nil)
	second := f.set(2)
	if second.ID == first.ID {
		t.Fatal("the same set")
	}
	f.send(0, head, 30)
	f.start([]string{stages.StageFeaturize}, nil)
	f.featurizedUpTo(0, 81)
	if sets := f.checkOnce(0, 30, 81); len(sets) != 2 || sets[0] != first.ID || sets[1] != second.ID {
		t.Errorf("sets %v, want %s, %s", sets, first.ID, second.ID)
	}
	for _, out := range f.features(0) {
		want := first.ID
		if out.SourceOffset > 40 {
			want = second.ID
		}
		if out.FeatureSetID != want {
			t.Fatalf("offset %d has set %s", out.SourceOffset, out.FeatureSetID)
		}
	}
}

func TestFlowSetsAreSwappedBetweenMessages(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, smallParts)
	stop := make(chan struct{})
	sent := make(chan int64, 1)
	go func() { // events keep coming
		var n int64
		defer func() { sent <- n }()
		for f.ctx.Err() == nil {
			batch := rows(n*30, n*30+30, nil)
			record := pipeline.Record{Key: []byte(fmt.Sprint(n)), Value: encode(t, batch)}
			batch.Release()
			for p := range 2 {
				if _, err := f.client.Produce(f.ctx, f.settings.Topics.Events, p, []pipeline.Record{record}); err != nil {
					t.Error(err)
					return
				}
			}
			n++
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	w := f.start(allButTrain, nil)
	var want []string
	for _, seed := range []uint64{1, 2, 3} {
		if len(want) > 0 { // the configuration changes
			w.stop()
			f.settings.Exploration.Seed = seed
			w = f.start(allButTrain, nil)
		}
		set := f.set(int64(len(want) + 1))
		want = append(want, set.ID)
		f.until("set in use", func() bool {
			out := f.features(0)
			return len(out) > 0 && out[len(out)-1].FeatureSetID == set.ID
		})
	}
	close(stop)
	messages := <-sent
	for p := range 2 {
		f.featurizedUpTo(p, messages)
		if sets := f.checkOnce(p, 30, messages); p == 0 && !slices.Equal(sets, want) {
			t.Errorf("sets %v, published were %v", sets, want)
		}
	}
}

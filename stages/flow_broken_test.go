package stages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
)

// A checkpoint that does not belong to the running exploration is counted and overwritten, and never
// merged.
func TestFlowACheckpointOfAnotherSpecIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(t *testing.T, value []byte) []byte
	}{
		{"spec hash", func(t *testing.T, value []byte) []byte {
			checkpoint, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), value)
			if err != nil {
				t.Fatal(err)
			}
			checkpoint.SpecHash = "0123456789abcdef"
			value, err = wire.EncodeCheckpoint(checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}},
		{"format version", func(t *testing.T, value []byte) []byte {
			version := func(n int) []byte { return fmt.Appendf(nil, `"format_version":%d`, n) }
			other := bytes.Replace(value, version(wire.CheckpointVersion), version(wire.CheckpointVersion+6), 1)
			if bytes.Equal(other, value) {
				t.Fatal("no format version found")
			}
			return other
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, nil)
			file := rows(0, 3000, nil)
			defer file.Release()
			f.send(0, file, 20)
			want := setOfFile(t, f.settings, file)
			m := newMiddle(4)
			w := f.start(exploring, m.prepare)
			m.wait(f)
			w.stop()
			spec := f.running()
			scores := f.settings.Topics.Scores
			newest := f.newestByKey(scores, 0)[spec.Exploration]
			bad := pipeline.Record{Key: newest.Key, Value: c.edit(t, newest.Value)}
			// Under other keys it is skipped.
			elsewhere := pipeline.Record{Key: []byte("flow.0.other"), Value: bad.Value}
			f.produce(scores, 0, elsewhere, pipeline.Record{Key: []byte("another.1.x"), Value: []byte("what?")}, bad)
			w = f.start(exploring, nil)
			if set := f.set(1); set.ID != want.ID() {
				t.Errorf("set %s, from the file %s", set.ID, want.ID())
			}
			if n := w.Meter.Activity().Undecodable[scores]; n == 0 {
				t.Error("the checkpoint is not counted")
			}
		})
	}
}

func TestFlowRetentionPassesTheFeaturizer(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	f.sendRows(0, 0, 600)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 30)
	w.stop()
	f.sendRows(0, 600, 1200)
	f.deleteRecords(f.settings.Topics.Events, 0, 45)
	again := f.start([]string{meter.StageFeaturize}, nil)
	f.featurizedUpTo(0, 60)
	again.stop()
	if c := again.Meter.Totals().Featurize; c.MissingOffsets != 15 || c.Rows != 300 {
		t.Errorf("%+v", c)
	}
	offsets := map[int64]bool{}
	for _, out := range f.features(0) {
		offsets[out.SourceOffset] = true
	}
	if len(offsets) != 45 || offsets[30] || offsets[44] || !offsets[45] {
		t.Errorf("%d offsets in the output", len(offsets))
	}
}

func TestFlowCompactedEventsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Topics.Events = "compacted" })
	_, err := f.client.CreateTopics(f.ctx, []pipeline.TopicSpec{{Name: "other", Partitions: 1, Configs: map[string]string{"cleanup.policy": "compact,delete"}}})
	if err != nil {
		t.Fatal(err)
	}
	f.settings.Topics.Events = "other"
	if err := f.start(allButTrain, func(w *worker) { w.mayFail.Store(true) }).fails(); !errors.Is(err, topics.ErrCompactedEvents) {
		t.Errorf("started: %v", err)
	}
}

func TestFlowPartitionsAreAdded(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+2000)
	}
	m := newMiddle(4)
	w := f.start(allButTrain, m.prepare)
	m.wait(f)
	names := f.settings.Topics
	if err := f.client.GrowPartitions(f.ctx, names.Events, 3); err != nil {
		t.Fatal(err)
	}
	if err := topics.Check(f.ctx, f.client, names); !errors.Is(err, topics.ErrNotCoPartitioned) {
		t.Errorf("checked: %v", err)
	}
	f.sendRows(2, 20_000, 22_000)
	close(m.release)
	set := f.set(1) // its partitions stay with the running exploration
	if len(set.Set.Lineage.Partitions) != 2 || !set.Set.Lineage.Counts.Reconciles() {
		t.Errorf("%+v", set.Set.Lineage)
	}
	for p := range 2 {
		f.featurizedUpTo(p, 100)
	}
	done, err := topics.Create(f.ctx, f.client, names)
	if err != nil || len(done) != 4 {
		t.Errorf("grown: %v, %v", done, err)
	}
	f.featurizedUpTo(2, 100)
	f.request(wire.ActionStart, "all")
	if again := f.set(2); len(again.Set.Lineage.Partitions) != 3 || again.Set.Lineage.Partitions[2].ClosingOrdinal == 0 {
		t.Errorf("%+v", again.Set.Lineage)
	}
	w.stop()
	f.checkOnce(2, 20, 100)
}

var errAway = errors.New("broker away")

func TestFlowABrokerThatIsAway(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 600 })
	file := rows(0, 3000, nil)
	defer file.Release()
	f.send(0, file, 20)
	want := setOfFile(t, f.settings, file)
	reached, release, givenUp := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once, given sync.Once
	var away atomic.Bool
	w := f.start(allButTrain, func(w *worker) {
		// The sums hold rows that no checkpoint has, and saving them takes longer than allowed.
		w.DrainTimeout, w.Settings.Subsample.CheckpointRows, w.Settings.Subsample.CheckpointInterval = time.Second, 1e6, time.Hour
		w.log.produce = func(ctx context.Context, topic string, _ int, _ []pipeline.Record) error {
			if topic != w.Settings.Topics.Scores && topic != w.Settings.Topics.Samples {
				return nil
			}
			once.Do(func() { close(reached) })
			select {
			case <-release:
			case <-ctx.Done():
			}
			if !away.Load() {
				return nil
			}
			<-ctx.Done()
			given.Do(func() { close(givenUp) })
			return errAway
		}
	})
	f.wait("the events are read and about to be saved", reached)
	away.Store(true)
	f.server.Stop()
	close(release)
	f.wait("ownership is lost, the rows could not be saved", givenUp)
	f.until("requests fail", func() bool {
		_, err := f.client.Fetch(f.ctx, f.settings.Topics.Events, 0, 0)
		return err != nil
	})
	f.server.Start()
	away.Store(false)
	if set := f.set(1); set.ID != want.ID() {
		t.Errorf("set %s, from the file %s", set.ID, want.ID())
	}
	f.featurizedUpTo(0, 150)
	w.stop()
	f.checkOnce(0, 20, 150)
}

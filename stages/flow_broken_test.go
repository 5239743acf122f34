package stages_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

func TestFlowRetentionPassesTheFeaturizer(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	f.sendRows(0, 0, 600)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 30)
	w.stop()
	f.sendRows(0, 600, 1200)
	f.deleteRecords(f.settings.Topics.Events, 0, 45)
	again := f.start([]meter.Stage{meter.StageFeaturize}, nil)
	f.featurizedUpTo(0, 60)
	again.stop()
	if c := again.Env.Meter.Totals().Featurize; c.MissingOffsets != 15 || c.Rows != 300 {
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
	if err != nil || len(done) != 5 {
		t.Errorf("grown: %v, %v", done, err)
	}
	f.featurizedUpTo(2, 100)
	f.request(wire.ActionStart, "all")
	if again := f.set(2); len(again.Set.Lineage.Partitions) != 3 || again.Set.Lineage.Partitions[2].ClosingOrdinal == 0 {
		t.Errorf("%+v", again.Set.Lineage)
	}
	w.stop()
	f.checkOnce(2)
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
		// The sums hold rows that are in no checkpoint, and saving them takes longer than allowed.
		w.Env.DrainTimeout = time.Second
		w.Settings.Subsample.CheckpointRows = 1e6
		w.Settings.Subsample.CheckpointInterval = time.Hour
		w.log.OnProduce = func(ctx context.Context, topic string, _ int, _ []pipeline.Record) error {
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
	stagestest.Await(t, "the events are read and about to be saved", reached)
	away.Store(true)
	f.server.Stop()
	close(release)
	stagestest.Await(t, "ownership is lost, the rows could not be saved", givenUp)
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
	f.checkOnce(0)
}

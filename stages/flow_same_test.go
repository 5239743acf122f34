package stages_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/state"
)

// batches reads a record like a file reader, in batches of the given size.
type batches struct {
	rows arrow.Record
	size int64
	at   int64
}

func (b *batches) Next() (arrow.Record, error) {
	if b.at >= b.rows.NumRows() {
		return nil, io.EOF
	}
	first := b.at
	b.at = min(first+b.size, b.rows.NumRows())
	return b.rows.NewSlice(first, b.at), nil
}

func setOfFile(t *testing.T, s stages.Settings, rows arrow.Record) *wire.FeatureSet {
	t.Helper()
	s.Topics.Events = "rows"
	found, err := offline.Explore(t.Context(), s.Plan(), func() (events.RowReader, error) {
		return &batches{rows: rows, size: 1000}, nil
	}, selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Set
}

func TestFlowFileAndStreamGiveTheSameSet(t *testing.T) {
	t.Parallel()
	file := rows(0, 4500, nil)
	t.Cleanup(file.Release) // the subtests outlive this function
	for _, criterion := range []scoring.Criterion{scoring.Residual, scoring.Adaptive} {
		t.Run(criterion.String(), func(t *testing.T) { sameSet(t, criterion, file) })
	}
}

func sameSet(t *testing.T, criterion scoring.Criterion, file arrow.Record) {
	settings := testSettings(1)
	settings.Exploration.Criterion = criterion
	want := setOfFile(t, settings, file)
	if rows := want.Lineage.Counts; rows.Scored < 500 || rows.Scored > 700 || !rows.Reconciles() {
		t.Fatalf("file: %+v", rows)
	}
	sizes := []int64{1, 64, 4096}
	if criterion == scoring.Adaptive { // learning takes a while, and starts from the results of the rows
		sizes = sizes[1:2]
	}
	for _, perMessage := range sizes {
		t.Run(fmt.Sprint(perMessage), func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.Criterion = criterion })
			f.send(0, file, perMessage)
			f.start(exploring, nil)
			got := f.set(1)
			if got.ID != want.ID() {
				t.Errorf("set %s, from the file %s", got.ID, want.ID())
			}
			a, b := got.Set.Lineage, want.Lineage
			if a.Counts.Rows != b.Counts.Rows || a.Counts.Scored != b.Counts.Scored || !a.Counts.Reconciles() ||
				a.Partitions[0].ClosingOrdinal != b.Partitions[0].ClosingOrdinal {
				t.Errorf("lineage %+v, from the file %+v", a, b)
			}
		})
	}
}

// fourPartitions sends the same rows to every partition in each call; only the sizes of messages
// differ.
func fourPartitions(f *flow, perMessage int64) {
	for p := range 4 {
		events := rows(int64(p)*10_000, int64(p)*10_000+2000, nil)
		f.send(p, events, perMessage)
		events.Release()
	}
}

// fourSettings configures an exploration that reads for a while.
func fourSettings(s *stages.Settings) {
	s.Exploration.SampleRows = 2400
	s.Subsample.CheckpointRows = 20
}

// middle stops a worker in the middle of an exploration: after some checkpoints it receives no more
// events.
type middle struct {
	after   int64
	seen    atomic.Int64
	reached chan struct{}
	release chan struct{} // closed by the test to let the worker continue
}

func newMiddle(after int64) *middle {
	return &middle{after: after, reached: make(chan struct{}), release: make(chan struct{})}
}

func (m *middle) prepare(w *worker) {
	topics := w.Settings.Topics
	w.log.OnProduce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
		if topic == topics.Scores && m.seen.Add(1) == m.after {
			close(m.reached)
		}
		return nil
	}
	w.log.OnFetch = func(ctx context.Context, topic string, _ int, _ int64) error {
		if topic == topics.Events && m.seen.Load() >= m.after {
			select {
			case <-m.release:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
}

func (m *middle) wait(f *flow) {
	f.t.Helper()
	select {
	case <-m.reached:
	case <-f.ctx.Done():
		f.t.Fatal("no checkpoints")
	}
}

func TestFlowTheSameSetHoweverItIsRun(t *testing.T) {
	t.Parallel()
	runs := []struct {
		name       string
		perMessage int64
		run        func(f *flow)
	}{
		{"one worker", 20, func(f *flow) { f.start(exploring, nil) }},
		{"three workers", 7, func(f *flow) {
			for range 3 {
				f.start(allButTrain, nil)
			}
		}},
		{"stopped and started", 20, func(f *flow) {
			m := newMiddle(6)
			w := f.start(exploring, m.prepare)
			m.wait(f)
			w.stop()
			f.inTheMiddle()
			f.start(exploring, nil)
		}},
		{"killed and started", 20, func(f *flow) {
			m := newMiddle(6)
			w := f.start(exploring, m.prepare)
			m.wait(f)
			w.kill()
			f.inTheMiddle()
			f.start(exploring, nil)
		}},
		{"one of three killed", 20, func(f *flow) {
			m := newMiddle(6)
			w := f.start(exploring, m.prepare)
			m.wait(f)
			f.start(exploring, nil)
			f.start(exploring, nil)
			w.kill()
		}},
	}
	ids := make([]string, len(runs))
	t.Run("runs", func(t *testing.T) {
		for i, run := range runs {
			t.Run(run.name, func(t *testing.T) {
				t.Parallel()
				f := newFlow(t, 4, fourSettings)
				fourPartitions(f, run.perMessage)
				run.run(f)
				set := f.set(1)
				counts := set.Set.Lineage.Counts
				if set.Set.Lineage.Sequence != 1 || counts.Scored < 2200 || counts.Scored > 2600 || !counts.Reconciles() {
					t.Errorf("lineage %+v", set.Set.Lineage)
				}
				ids[i] = set.ID
			})
		}
	})
	for i, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("%s: set %s, %s gave %s", runs[i].name, id, runs[0].name, ids[0])
		}
	}
}

// inTheMiddle fails a test whose exploration ended before the disturbance.
func (f *flow) inTheMiddle() {
	f.t.Helper()
	if s := f.state("exploration", func(s state.Snapshot) bool { return s.Spec != nil }); s.Running() == nil {
		f.t.Fatal("the exploration is over already")
	}
}
